export { checkNetwork, type SentNetwork } from './check-network.ts'
export { chooseNetworkNode, type NetworkCandidate } from './choose-node.ts'
export {
  mayBeOnNode,
  type NetworkSituation,
  type NetworkState,
  type NextNetwork,
  nextNetwork,
} from './next-network.ts'
