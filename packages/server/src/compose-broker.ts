// Composes the broker of this process: a local broker that reads secrets, or a client of brokers in other processes. In
// production the brokers are other processes, so that the API cannot read secrets. See docs/design/secrets.md#broker

import type { Logger } from 'pino'
import type { InternalCall } from './api/internal-calls.ts'
import { createBroker, type EnvironmentOutcome } from './broker/create-broker.ts'
import { createRemoteBroker } from './broker/remote-broker.ts'
import { serveBroker } from './broker/serve-broker.ts'
import type { ClientCertificates } from './compose-clients.ts'
import type { Config } from './config/schema.ts'
import { connectRegistries, connectSecretsReader, readClusterCa } from './connect-engines.ts'
import type { Broker } from './ports/broker.ts'
import type { Secret } from './ports/secret.ts'
import type { Store } from './store/store.ts'
import { realClock as clock, realIds as ids } from './system-clock.ts'

export interface BrokerDeps {
  readonly config: Config
  readonly log: Logger
  readonly store: Store
  readonly clusterKey: Secret
  readonly clients: Pick<ClientCertificates, 'secretsStore'>
}

export interface BrokerSide {
  readonly broker: Broker
  /** Serves broker calls of other processes; absent if this process does not have the role broker. */
  readonly call?: InternalCall
  /** Number of answers to requests for a container's environment, by outcome, for the metrics. */
  readonly answers: ReadonlyMap<EnvironmentOutcome, number>
}

export function composeBroker(deps: BrokerDeps): BrokerSide {
  const { config, log, store, clusterKey, clients } = deps
  if (!config.roles.includes('broker')) return { broker: remoteBroker(deps), answers: new Map() }
  const answers = new Map<EnvironmentOutcome, number>()
  const broker = createBroker({
    store,
    ids,
    log,
    secretsStore: connectSecretsReader(config, clients.secretsStore),
    registry: connectRegistries(config),
    onAnswer: (outcome) => void answers.set(outcome, (answers.get(outcome) ?? 0) + 1),
  })
  return { broker, answers, call: serveBroker(broker, { store, clusterKey, clock }) }
}

function remoteBroker({ config, log, store, clusterKey }: BrokerDeps): Broker {
  const clusterCa = readClusterCa(config)
  const ca = clusterCa === undefined ? {} : { clusterCa }
  return createRemoteBroker({ store, clock, clusterKey, log, ...ca })
}
