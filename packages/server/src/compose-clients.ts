// Composes the certificates with which this process connects to etcd and to the secrets store: they follow their files.

import type { Logger } from 'pino'
import type { Config } from './config/schema.ts'
import {
  countEtcdAccepting,
  countStoreAccepting,
  readEtcdTls,
  readSecretsStoreTls,
} from './connect-engines.ts'
import { type CertificateFollower, followCertificates } from './lifecycle/follow-certificates.ts'
import type { CurrentTls } from './ports/client-tls.ts'

export interface ClientCertificates {
  /** Undefined if the configuration names no files. */
  readonly etcd: CurrentTls | undefined
  readonly secretsStore: CurrentTls | undefined
  /** Uses the files as they are now. Never rejects. */
  check(): Promise<void>
}

/** Throws if a file is unreadable. */
export function composeClientCertificates(config: Config, log: Logger): ClientCertificates {
  const shared = { log, now: Date.now }
  const etcd =
    config.etcd.tls &&
    followCertificates({
      ...shared,
      engine: 'etcd',
      read: () => readEtcdTls(config),
      countAccepting: (tls) => countEtcdAccepting(config, tls),
    })
  const secretsStore =
    config.secretsStore.ca === undefined
      ? undefined
      : followCertificates({
          ...shared,
          engine: 'secrets store',
          read: () => readSecretsStoreTls(config),
          countAccepting: (tls) => countStoreAccepting(config, tls),
        })
  const followers = [etcd, secretsStore].filter((one): one is CertificateFollower => one !== undefined)
  return {
    etcd: etcd?.current,
    secretsStore: secretsStore?.current,
    async check() {
      await Promise.all(followers.map((one) => one.check()))
    },
  }
}
