// Another client of the same etcd, the same as the server uses.

import { createEtcdClient } from '@holdfast/server/adapters/etcd/create-etcd-client'
import type { KeyValueEngine } from '@holdfast/server/ports/key-value'

export function connectEtcdForBench(endpoints: readonly string[]): KeyValueEngine {
  return createEtcdClient({ endpoints })
}
