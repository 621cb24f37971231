export {
  checkReplicaNode,
  checkVolume,
  checkVolumePatch,
  checkVolumeSize,
  type SentVolume,
} from './check-volume.ts'
export {
  claimedBytes,
  explainVolume,
  nodesWithoutRoom,
  placeCopies,
  refusalOfNode,
  type VolumeDemand,
} from './place-volume.ts'
export {
  checkReplicas,
  checkResize,
  checkVolumeFacts,
  placedPhase,
  quotaBytes,
  refusalOfVolume,
} from './volume-state.ts'
