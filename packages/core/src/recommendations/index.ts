export { type AppliedChange, checkApply } from './check-apply.ts'
export { type Advice, type AdviceFacts, type NodeAtRisk, recommend } from './recommend.ts'
