export {
  checkReplicaNode,
  checkVolume,
  checkVolumePatch,
  checkVolumeSize,
  type SentVolume,
} from './check-volume.ts'
export { claimedBytes } from './claimed-bytes.ts'
export { configureVolume } from './configuration/configure-volume.ts'
export { keepPromotable } from './configuration/keep-promotable.ts'
export { desiredCopies, withoutPromises } from './desired-copies.ts'
export { configurationOf } from './group-configuration.ts'
export { drainWaits, type GroupMember, type HandoverStep, handOver, nextHandover } from './handover.ts'
export {
  decideOffers,
  isLastPrimary,
  judgeOffer,
  type OfferFacts,
  type OfferVerdict,
} from './judge-offers.ts'
export { judgePool, releaseOrder, wipeOrder } from './judge-pool.ts'
export { type FoundDivergences, type KeepingNode, listDivergences } from './list-divergences.ts'
export { COPY_GRACE_MS } from './move-copies.ts'
export { type NextVolume, nextVolume } from './next-volume.ts'
export {
  acceptedPrimaries,
  explainVolume,
  isResident,
  nodesWithoutRoom,
  placeCopies,
  refusalOfNode,
  type VolumeDemand,
} from './place-volume.ts'
export { promotableCopies } from './promotable-copies.ts'
export { acceptsWriter } from './promotion/accepts-writer.ts'
export { type Forecast, type ForecastFacts, ifPrimaryDies } from './promotion/if-primary-dies.ts'
export { hasLostPrimaries } from './promotion/lost-primaries.ts'
export { copyText, forecastText, OBSTACLE_TEXTS } from './promotion/obstacle-texts.ts'
export {
  type Demand,
  type GroupFacts,
  type GroupPlan,
  type JudgedCopy,
  nodesToAsk,
  type PromotionLimits,
  type PromotionObstacle,
  planGroup,
} from './promotion/plan-group.ts'
export { type GroupVote, promoteVolumes } from './promotion/promote-volumes.ts'
export {
  type CopyNode,
  type CopyReport,
  type HeldCopy,
  type VolumeOccurrence,
  type VolumeRecord,
  type VolumeSituation,
  withCopies,
} from './volume-record.ts'
export {
  checkReplicas,
  checkResize,
  checkVolumeFacts,
  placedPhase,
  quotaBytes,
  refusalOfVolume,
} from './volume-state.ts'
