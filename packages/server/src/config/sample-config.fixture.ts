// The smallest valid configuration, for the configuration tests.

import type { ConfigFault } from './config-fault.ts'
import { type ConfigInput, type LoadedConfig, loadConfig } from './load-config.ts'

export const MINIMAL = `etcd:
  endpoints: [http://127.0.0.1:2379]
secretsStore:
  address: http://127.0.0.1:8200
  api: { roleId: api-role, secretId: api-secret }
  broker: { roleId: broker-role, secretId: broker-secret }
`

export const load = (text: string, input: Partial<ConfigInput> = {}): LoadedConfig =>
  loadConfig({ text, fileName: 'hf.yaml', env: {}, ...input })

export function faultsOf(loaded: LoadedConfig): readonly ConfigFault[] {
  return loaded.ok ? [] : loaded.faults
}

/** Returns the kind, field and place of each fault, which tests compare, without the wording, which may change. */
export function faultLines(loaded: LoadedConfig): string[] {
  return faultsOf(loaded).map(({ kind, field, where }) => `${kind} ${field} @ ${where}`)
}
