export {
  type DefragmentationPlan,
  type DefragmentationRules,
  FILLING,
  NO_SPACE,
  planDefragmentation,
  RELEASABLE_BYTES,
  type StoreMember,
} from './plan-defragmentation.ts'
