export * from './api/answers.ts'
export * from './api/deployment.ts'
export * from './api/event.ts'
export { EVENT_DESCRIPTIONS, type EventDescription } from './api/event-descriptions.ts'
export * from './api/exec.ts'
export * from './api/node.ts'
export * from './api/placement.ts'
export * from './api/rejection.ts'
export * from './api/residency.ts'
export * from './api/secret.ts'
export * from './api/tenant.ts'
export * from './catalogue/index.ts'
export { type Defined, defined } from './defined.ts'
export * from './ids.ts'
export * from './json/json.ts'
export {
  MAX_JSON_DEPTH,
  parseStrictJson,
  type StrictJsonFault,
  type StrictJsonResult,
} from './json/strict-json.ts'
export { utf8Length } from './json/strict-json-utf8.ts'
export { nearestName } from './nearest-name.ts'
export * from './protocol/agent-protocol.ts'
export * from './shapes/field-path.ts'
export * from './shapes/known-fields.ts'
export * from './shapes/shape.ts'
export * from './shapes/shape-faults.ts'
export * from './shapes/shape-schema.ts'
