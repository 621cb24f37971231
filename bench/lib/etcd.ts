// One more client of the same etcd, of the kind that the server uses.

import { createEtcdClient } from '../../packages/server/src/adapters/etcd/create-etcd-client.ts'
import type { KeyValueEngine } from '../../packages/server/src/ports/key-value.ts'

export function connectEtcdForBench(endpoints: readonly string[]): KeyValueEngine {
  return createEtcdClient({ endpoints })
}
