// The hot path of a create: POST /api/v1/deployments through the whole server, 64 at the same time.

import { composeServer, type Server } from '@holdfast/server/compose'
import { loadConfig } from '@holdfast/server/config/load-config'
import { connectEtcd, connectSecretsWriter } from '@holdfast/server/connect-engines'
import { initialize } from '@holdfast/server/operations/tenants/initialize'
import { openStore } from '@holdfast/server/store/store'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import pino from 'pino'
import { bodyOf, nameOf } from '../create-body.ts'
import { charge, type HotPath, inParallel } from './hot-path.ts'

const TENANTS = 10
const AT_ONCE = 64
const UNLIMITED = 10_000_000

interface Place {
  /** Port of the stand-in for the secrets store and the registry. */
  readonly standIn: number
  /** Reference of the image that the stand-in has. */
  readonly image: string
  readonly stateFolder: string
}

function configOf({ standIn }: Place) {
  const identityOf = (roleId: string) => ({ roleId, secretId: roleId })
  const settings = {
    listen: { host: '127.0.0.1', port: 1 },
    publicUrl: 'http://127.0.0.1:1',
    etcd: { endpoints: ['http://127.0.0.1:1'], root: '/hf' },
    secretsStore: {
      address: `http://127.0.0.1:${standIn}`,
      api: identityOf('api'),
      broker: identityOf('broker'),
    },
    registries: [{ host: `127.0.0.1:${standIn}`, plainHttp: true, allowAddress: true }],
    rates: { requestsPerMinute: 1_000_000, burst: 1_000_000 },
    quotas: { deployments: UNLIMITED, containers: UNLIMITED, stored_bytes: 1_000_000_000_000 },
    roles: ['api', 'broker'],
  }
  const loaded = loadConfig({ text: JSON.stringify(settings), env: {} })
  if (!loaded.ok) throw new Error(`configuration: ${JSON.stringify(loaded.faults)}`)
  return loaded.config
}

export async function creates(place: Place): Promise<HotPath> {
  const config = configOf(place)
  // The log line of a request is part of its cost; writing it is not.
  const log = pino({ level: 'info' }, { write: () => {} })
  const engine = connectEtcd(config, log)
  const store = await openStore({ engine, clock, ids, root: '/hf', onUnreadable: () => {} })
  const made = await initialize(
    { store, clock, ids, secrets: connectSecretsWriter(config) },
    { reissue: false },
  )
  store.close()
  if (made.kind !== 'done') throw new Error(`the platform was not created: ${made.kind}`)
  const { http } = await composeServer(config, log, () => {}, place.stateFolder)
  const tokens: string[] = []
  for (let index = 0; index < TENANTS; index += 1) tokens.push(await newTenant(http, made.token, index))
  let created = 0
  return {
    async run(operations) {
      const first = created
      const spent = await charge(operations, () =>
        inParallel(operations, AT_ONCE, async (index) => {
          const body = bodyOf(place.image, nameOf(first + index))
          await post(http, tokens[index % TENANTS] ?? '', '/api/v1/deployments', body)
        }),
      )
      created += operations
      return spent
    },
  }
}

async function newTenant(http: Server['http'], token: string, index: number): Promise<string> {
  const { id } = await post(http, token, '/api/v1/tenants', JSON.stringify({ name: `bench-${index}` }))
  const expiresAt = new Date(clock.now() + 24 * 3_600_000).toISOString()
  const asked = JSON.stringify({ name: 'bench', role: 'tenant-admin', expiresAt })
  const { token: made } = await post(http, token, `/api/v1/tenants/${id}/tokens`, asked)
  return String(made)
}

async function post(http: Server['http'], token: string, url: string, payload: string) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const { statusCode, body } = await http.inject({ method: 'POST', url, headers, payload })
  if (statusCode !== 201) throw new Error(`POST ${url} was answered with ${statusCode}: ${body}`)
  return Object(JSON.parse(body))
}
