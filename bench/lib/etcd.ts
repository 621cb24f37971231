// One more client of the same etcd, of the kind that the server uses.

import { createEtcdClient } from '@holdfast/server/adapters/etcd/create-etcd-client'
import type { KeyValueEngine } from '@holdfast/server/ports/key-value'

export function connectEtcdForBench(endpoints: readonly string[]): KeyValueEngine {
  return createEtcdClient({ endpoints })
}
