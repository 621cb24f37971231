// The in-memory store as if a newer server changed each record after every write: it adds unknown members, and checks
// that the servers keep them.

import type { Operation, TransactionRequest } from '@holdfast/server/ports/key-value'
import type { MemoryKeyspace } from '@holdfast/simulation/memory/keyspace'
import type { MemberLedger } from './member-ledger.ts'

export function withNewerMembers(keyspace: MemoryKeyspace, ledger: MemberLedger): MemoryKeyspace {
  const added = (request: TransactionRequest): TransactionRequest => ({
    ...request,
    success: request.success.map(addedTo),
    failure: request.failure.map(addedTo),
  })
  const addedTo = (operation: Operation): Operation => {
    if (operation.kind === 'put') return { ...operation, value: ledger.add(operation.key, operation.value) }
    if (operation.kind === 'transaction') return { ...operation, transaction: added(operation.transaction) }
    return operation
  }
  keyspace.onWrite(({ kind, key, revision, bytes }) =>
    ledger.check({ key, revision, ...(kind === 'put' ? { value: bytes } : {}) }),
  )
  return {
    get revision() {
      return keyspace.revision
    },
    get bytes() {
      return keyspace.bytes
    },
    log: keyspace.log,
    range: keyspace.range,
    compact: keyspace.compact,
    onWrite: keyspace.onWrite,
    transact: (request) => keyspace.transact(added(request)),
  }
}
