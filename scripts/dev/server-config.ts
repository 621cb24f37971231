// The configuration file of the development server: what production has, for this machine alone, with the metrics page open.

export interface ServerSettings {
  readonly address: string
  readonly port: number
  readonly etcdEndpoints: readonly string[]
  readonly etcdQuotaBytes: number
  readonly secretsStore: string
  readonly api: { readonly roleId: string; readonly secretId: string }
  readonly broker: { readonly roleId: string; readonly secretId: string }
  readonly registryHost: string
}

/** A JSON string is a YAML string. */
const quoted = (text: string): string => JSON.stringify(text)

export function serverConfig(settings: ServerSettings): string {
  const { address, port, etcdEndpoints, etcdQuotaBytes, secretsStore, api, broker, registryHost } = settings
  return `# Written by dev:up; every setting is explained in docs/guides/configuration.md.
listen: { host: ${address}, port: ${port} }
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
# A machine that is silent is given up sooner than by default, so that trying it out takes less waiting.
liveness: { heartbeatSeconds: 2, unreachableSeconds: 10, failedSeconds: 20 }
`
}
