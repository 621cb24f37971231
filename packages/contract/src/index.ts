export * from './agent-protocol.ts'
export * from './answers.ts'
export * from './catalogue/index.ts'
export { type Defined, defined } from './defined.ts'
export * from './deployment.ts'
export * from './event.ts'
export * from './exec.ts'
export * from './field-path.ts'
export * from './ids.ts'
export * from './json.ts'
export * from './known-fields.ts'
export { nearestName } from './nearest-name.ts'
export * from './node.ts'
export * from './placement.ts'
export * from './rejection.ts'
export * from './residency.ts'
export * from './secret.ts'
export * from './shape.ts'
export * from './shape-faults.ts'
export * from './shape-schema.ts'
export {
  MAX_JSON_DEPTH,
  parseStrictJson,
  type StrictJsonFault,
  type StrictJsonResult,
} from './strict-json.ts'
export { utf8Length } from './strict-json-utf8.ts'
export * from './tenant.ts'
