// The whole product on this machine: a lab of nodes with real engines, two server replicas on real etcd, secrets store and
// registry, and an agent on each node that was enrolled as a person would enrol it.

import { type Lab, type LabNode, type LabOptions, makeCertificates, startLab } from '@holdfast/testkit'
import type { ApiClient } from '../../tests/support/api-client.ts'
import { createLabAgents, type Offer, untilNodesReady } from '../../tests/support/lab-agents.ts'
import {
  type Platform,
  type Replica,
  startPlatform,
  startReplica,
} from '../../tests/support/start-platform.ts'
import { checkHistory } from './check-history.ts'

export interface LabPlatform {
  readonly lab: Lab
  /** Serves the API; the other replica, behind TLS, is where the agents dial in. */
  readonly platform: Platform
  readonly gateway: Replica
  /** The gateway ends, and another process takes its address. */
  replaceGateway(meanwhile?: () => Promise<void>): Promise<void>
  /** A reference of a runnable image in the lab's registry. */
  readonly image: string
  /** As tenant-admin. */
  api(tenant: string): ApiClient
  node(name: string): LabNode
  stop(): Promise<void>
}

export interface LabPlatformOptions extends Pick<LabOptions, 'nodesPerTenant' | 'engine'> {
  /** By the node's name. */
  readonly offers?: { readonly [node: string]: Offer }
}

const CLUSTER_KEY = 'known to the replicas of this test alone'
const TENANTS = ['acme', 'globex'] as const

export async function startLabPlatform(options: LabPlatformOptions): Promise<LabPlatform> {
  const agents = createLabAgents()
  const lab = await startLab({ ...options, tenants: TENANTS, startAgent: agents.startAgent })
  const platform = await startPlatform({
    registry: lab.registry,
    settings: { roles: ['api', 'controllers', 'gateway', 'broker'], cluster: { key: CLUSTER_KEY } },
  })
  const history = checkHistory(platform.server.store, lab)
  const certificates = await makeCertificates([`IP:${lab.hostAddress}`])
  const tls = { cert: certificates.path('server.crt'), key: certificates.path('server.key') }
  let gateway = await startReplica(platform, {}, { host: lab.hostAddress, tls })
  const { reference: image } = await lab.registry.pushBusyboxImage('acme/web', '1.0')
  const api = (tenant: string) =>
    platform.api(tenant === 'acme' ? platform.acme.token : platform.globex.token)
  const place = { server: gateway.baseUrl, ca: certificates.path('ca.crt') }
  const enrol = (node: LabNode) => agents.enrol(node, api(node.tenant), place, options.offers?.[node.name])
  await Promise.all(lab.nodes.map(enrol))
  await Promise.all(lab.nodes.map((node) => lab.restartAgent(node)))
  for (const tenant of TENANTS)
    await untilNodesReady(api(tenant), lab.nodes.filter((node) => node.tenant === tenant).length)
  return {
    ...{ lab, platform, image, api },
    get gateway() {
      return gateway
    },
    async replaceGateway(meanwhile = async () => {}) {
      const port = Number(new URL(gateway.baseUrl).port)
      await gateway.stop()
      await meanwhile()
      gateway = await startReplica(platform, {}, { host: lab.hostAddress, port, tls })
    },
    node: (name) => lab.nodes.find((node) => node.name === name) ?? missing(name),
    async stop() {
      try {
        await history.finish({ acme: platform.acme.id, globex: platform.globex.id })
      } finally {
        await lab.stop()
        await Promise.all([gateway.stop(), platform.stop()])
        certificates.remove()
      }
    },
  }
}

function missing(name: string): never {
  throw new Error(`no node is called ${name}`)
}
