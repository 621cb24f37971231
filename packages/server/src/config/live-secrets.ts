// The secrets of a configuration that may be loaded again while the server runs: their users reveal the current value.

import { defined } from '@holdfast/contract'
import { type Secret, secretFrom } from '../ports/secret.ts'
import type { Config } from './schema.ts'

export interface LiveSecrets {
  /** The configuration whose secrets follow `use`. */
  readonly config: Config
  /** Uses the secrets of another configuration. A secret that is missing there keeps its value. */
  use(next: Config): void
  /** Uses a renewed secret id until `use` brings the content of its file. */
  useSecretId(who: 'api' | 'broker', next: Secret): void
}

export function followSecrets(initial: Config): LiveSecrets {
  let latest = initial
  const follow = (pick: (config: Config) => Secret | undefined): Secret | undefined => {
    const first = pick(initial)
    return first && secretFrom(() => (pick(latest) ?? first).reveal())
  }
  const identity = (who: 'api' | 'broker') => {
    const secretId = follow(({ secretsStore }) => secretsStore[who]?.secretId)
    const given = initial.secretsStore[who]
    return given && { ...given, ...defined({ secretId }) }
  }
  const { cluster, etcd, secretsStore } = initial
  const key = follow((config) => config.cluster?.key)
  const password = follow((config) => config.etcd.password)
  return {
    config: {
      ...initial,
      ...defined({ cluster: cluster && { ...cluster, ...defined({ key }) } }),
      etcd: { ...etcd, ...defined({ password }) },
      secretsStore: { ...secretsStore, ...defined({ api: identity('api'), broker: identity('broker') }) },
    },
    use(next) {
      latest = next
    },
    useSecretId(who, next) {
      const given = latest.secretsStore[who] ?? initial.secretsStore[who]
      if (given === undefined) return
      const renewed = { ...given, secretId: next }
      latest = { ...latest, secretsStore: { ...latest.secretsStore, [who]: renewed } }
    },
  }
}
