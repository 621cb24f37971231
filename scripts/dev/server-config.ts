// The configuration file of the development server: like production, but reachable on this machine only, with public
// metrics.

export interface ServerSettings {
  readonly address: string
  readonly port: number
  readonly etcdEndpoints: readonly string[]
  readonly etcdQuotaBytes: number
  readonly secretsStore: string
  readonly api: { readonly roleId: string; readonly secretId: string }
  readonly broker: { readonly roleId: string; readonly secretId: string }
  readonly registryHost: string
  /** Path of the folder of the built dashboard. */
  readonly dashboard: string
}

/** Quotes a text for YAML: every JSON string is a valid YAML string. */
const quoted = (text: string): string => JSON.stringify(text)

export function serverConfig(settings: ServerSettings): string {
  const { address, port, etcdEndpoints, etcdQuotaBytes, secretsStore, api, broker, registryHost, dashboard } =
    settings
  return `# Written by dev:up; every setting is explained in docs/guides/configuration.md.
listen: { host: ${address}, port: ${port}, drainSeconds: 0 }
publicUrl: http://${address}:${port}
etcd:
  endpoints: [${etcdEndpoints.map(quoted).join(', ')}]
  quotaBytes: ${etcdQuotaBytes}
secretsStore:
  address: ${quoted(secretsStore)}
  api: { roleId: ${quoted(api.roleId)}, secretId: ${quoted(api.secretId)} }
  broker: { roleId: ${quoted(broker.roleId)}, secretId: ${quoted(broker.secretId)} }
registries:
  - { host: ${quoted(registryHost)}, plainHttp: true, allowAddress: true }
metrics: { open: true }
ui: { folder: ${quoted(dashboard)} }
volumes: { enabled: true }
# Shorter timeouts than the defaults, so that you can watch a node fail without a long wait.
liveness: { heartbeatSeconds: 2, unreachableSeconds: 10, failedSeconds: 20 }
`
}
