// Runs the conformance suite of key-value engines against real etcd.

import { describeEngine } from '@holdfast/simulation/conformance/engine-conformance'
import { startEtcd } from '@holdfast/testkit'
import { createEtcdClient } from './create-etcd-client.ts'

describeEngine('etcd', async () => {
  const cluster = await startEtcd()
  return { engine: createEtcdClient({ endpoints: cluster.endpoints }), stop: () => cluster.stop() }
})
