// Opens a second client of the server's etcd, with the client library that the server uses.

import { createEtcdClient } from '@holdfast/server/adapters/etcd/create-etcd-client'
import type { KeyValueEngine } from '@holdfast/server/ports/key-value'

export function connectEtcdForBench(endpoints: readonly string[]): KeyValueEngine {
  return createEtcdClient({ endpoints })
}
