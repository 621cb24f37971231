// Converts a generated request with relative revisions to a real request, once the revision of the store is known.

import type { Operation, RangeRequest, TransactionRequest } from '@holdfast/server/ports/key-value'
import type { Moment, OperationSketch, RangeSketch, TransactionSketch } from './arbitrary-steps.fixture.ts'

export interface Reached {
  readonly revision: number
  readonly compacted: number
}

export function resolveMoment({ since, offset }: Moment, reached: Reached): number {
  if (since === 'now') return reached.revision + offset
  return since === 'compaction' ? reached.compacted + offset : offset
}

export function resolveRange({ revision, ...range }: RangeSketch, reached: Reached): RangeRequest {
  return revision === undefined ? range : { ...range, revision: resolveMoment(revision, reached) }
}

export function resolveTransaction(sketch: TransactionSketch, reached: Reached): TransactionRequest {
  const operations = (sketches: readonly OperationSketch[]) =>
    sketches.map((one) => resolveOperation(one, reached))
  return {
    compares: sketch.compares.map((one) => ({ ...one, value: resolveMoment(one.value, reached) })),
    success: operations(sketch.success),
    failure: operations(sketch.failure),
  }
}

function resolveOperation(sketch: OperationSketch, reached: Reached): Operation {
  switch (sketch.kind) {
    case 'put':
      return { kind: 'put', key: sketch.key, value: new Uint8Array(sketch.bytes).fill(sketch.bytes % 251) }
    case 'range':
      return { kind: 'range', ...resolveRange(sketch, reached) }
    case 'transaction':
      return { kind: 'transaction', transaction: resolveTransaction(sketch.transaction, reached) }
    case 'delete':
      return sketch
  }
}
