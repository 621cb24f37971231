// Chaos proxies in front of all members of an etcd cluster, controlled together.

import { type ChaosProxy, type EtcdCluster, startChaosProxy } from '@holdfast/testkit'

export interface ProxiedCluster {
  readonly endpoints: string[]
  readonly proxies: readonly ChaosProxy[]
  /** Cuts every connection to the cluster and rejects new connections until `restore` is called. */
  cutOff(): void
  restore(): void
  stop(): Promise<void>
}

export async function proxyCluster({ endpoints }: Pick<EtcdCluster, 'endpoints'>): Promise<ProxiedCluster> {
  const targets = endpoints.map((endpoint) => new URL(endpoint))
  const proxies = await Promise.all(
    targets.map(({ hostname, port }) => startChaosProxy(hostname, Number(port))),
  )
  return {
    endpoints: proxies.map(({ host, port }) => `http://${host}:${port}`),
    proxies,
    cutOff() {
      for (const proxy of proxies) proxy.refuseNew()
      for (const proxy of proxies) proxy.cutAll()
    },
    restore() {
      for (const proxy of proxies) proxy.resume()
    },
    async stop() {
      await Promise.all(proxies.map((proxy) => proxy.stop()))
    },
  }
}
