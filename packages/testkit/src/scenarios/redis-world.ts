// A real Redis whose user `app` may have several passwords, and deployments, by default two or three, that log in with the password
// in their secret, 20 times a second, each time on a new connection. Every machine of the tenant runs one container of each
// deployment, and the name `redis` resolves to the Redis on the same machine. Each login stores in Redis how many
// attempts its container has made, so that failed logins of a removed container are known.

import type { TenantId } from '@holdfast/contract'
import { placements } from '@holdfast/server/store/records'
import { waitUntil } from '@holdfast/testkit'
import { expect } from 'vitest'
import { LONG } from '../long-run.ts'
import type { ApiAnswer } from '../platform/api-client.ts'
import { untilPhase } from './lab-reads.ts'
import { nodesOf } from './routed-page.ts'
import type { LabPlatform } from './start-lab-platform.ts'

const CLIENTS: readonly string[] = LONG ? ['cart', 'mail', 'shop'] : ['cart', 'shop']
/** Deployment whose container sets the passwords of `app` in Redis to exactly those in its own secret, in one command. */
const USERS = 'redis-users'
/** Deployments that use the rotated credential. */
export const CONSUMERS = [...CLIENTS, USERS].sort()

const GENERATE = { keys: ['password'], length: 32, charset: 'alphanumeric' }
const ADMIN = { name: 'ADMIN', vault_path: 'resources/redis-admin', anchor: 'external' }
export const APP_PATH = 'resources/redis-app'

const IDLE = "trap 'exit 0' TERM; sleep 100000 & wait"

/** Command that starts Redis. The configuration goes through a pipe, so that no password is in a command line. */
const SERVE =
  'printf \'save ""\\nuser default off\\nuser admin on >%s ~* &* +@all\\n\' "$ADMIN_password" | exec redis-server -'

const APPLY = `
  wanted=">$APP_password"
  for more in "$APP_password_NEXT" "$APP_password_PREVIOUS"; do [ -z "$more" ] || wanted="$wanted >$more"; done
  printf 'AUTH admin %s\\nACL SETUSER app on resetpass %s ~* +@all\\n' "$ADMIN_password" "$wanted" | redis-cli -h redis >/tmp/reply
  [ "$(grep -c OK /tmp/reply)" = 2 ] || exit 1
  touch /tmp/applied
  ${IDLE}`

/**
 * Script of one login: AUTH on a new connection, then an update of two counters, which Redis accepts only after a login.
 */
const LOG_IN = `
  trap 'exit 0' TERM
  me=$(hostname)
  tried=0
  while :; do
    tried=$((tried + 1))
    reply=$(printf 'AUTH app %s\\r\\nHSET tried %s %s\\r\\nHINCRBY done %s 1\\r\\nQUIT\\r\\n' "$APP_password" $me $tried $me | nc -w 5 redis 6379)
    case "$reply" in +OK*:*) [ -e /tmp/in ] || touch /tmp/in ;; *) echo "failed login $tried: $reply" ;; esac
    sleep 0.03
  done`

/**
 * Health check times, which decide when a revision counts as the last good one. A failed revision rolls back to the last
 * good one, so Redis must accept the old password until then: for 45 s in the long run, always in the short run.
 */
const CHECK_TIMES = { interval: '5s', timeout: LONG ? '10s' : '5m' }
const isThere = (file: string) => ({ type: 'exec', command: ['test', '-f', file], ...CHECK_TIMES })

interface Tally {
  readonly containers: number
  readonly logins: number
  /** Failed login attempts, as counted by the client containers. Containers that never logged in are left out. */
  readonly missed: number
  /** Number of wrong passwords that Redis received, from any client. */
  readonly refused: number
  /** Number of passwords that Redis accepts for `app`, on each machine. */
  readonly passwords: readonly number[]
}

export interface RedisWorld {
  tally(): Promise<Tally>
  /** Recreates the container that sets the passwords in Redis, as the operator does in a rotation. */
  applyPasswords(): Promise<void>
  /** Waits until the running revision of every consumer is the consumer's last good one. */
  untilAllGood(): Promise<void>
  /** Version of the secrets that each consumer uses. */
  secretsVersions(): Promise<{ [deployment: string]: number }>
}

export interface RedisWorldOptions {
  /** The deployments that log in, each with a replica on every machine. */
  readonly clients?: readonly string[]
  /** The path of the password with which they log in. */
  readonly path?: string
}

export async function startRedisWorld(
  cluster: LabPlatform,
  { clients = CLIENTS, path = APP_PATH }: RedisWorldOptions = {},
): Promise<RedisWorld> {
  const app = { name: 'APP', vault_path: path, anchor: 'external' }
  const consumers = [...clients, USERS]
  const api = cluster.api('acme')
  const nodes = nodesOf(cluster, 'acme')
  const { reference: image } = await cluster.lab.registry.pushRedisImage('acme/redis', '1.0')
  const deploy = async (name: string, script: string, more: object) => {
    const command = ['/bin/sh', '-c', script]
    const body = { kind: 'Deployment', name, image, replicas: nodes.length, command, ...more }
    const { status, text } = await api.post('/api/v1/deployments', body)
    expect(status, text).toBe(201)
    await untilPhase(api, name, 'Running')
  }
  const generated = (entry: object) => ({ ...entry, generate: GENERATE })
  const check = { type: 'exec', command: ['nc', '-w', '1', '127.0.0.1', '6379'], ...CHECK_TIMES }
  await deploy('redis', SERVE, {
    secrets: [generated(ADMIN)],
    healthCheck: check,
    placement: { antiAffinity: ['redis'] },
  })
  await deploy(USERS, APPLY, {
    secrets: [ADMIN, generated(app)],
    healthCheck: isThere('/tmp/applied'),
    placement: { affinity: ['redis'], antiAffinity: [USERS] },
    update: { order: 'stop-first' },
  })
  const client = {
    secrets: [app],
    healthCheck: isThere('/tmp/in'),
    placement: { affinity: ['redis'] },
  }
  await Promise.all(clients.map((name) => deploy(name, LOG_IN, client)))
  return {
    tally: async () => sumUp(await Promise.all(nodes.map((node) => readTally(cluster, node)))),
    async applyPasswords() {
      const { status, body, text } = await api.post(`/api/v1/deployments/${USERS}/restart`, undefined)
      expect(status, text).toBe(200)
      await untilRevision(cluster, USERS, Object(body['deployment']).revision)
    },
    async untilAllGood() {
      const { server, acme } = cluster.platform
      const placed = () => server.store.list(placements, acme.id as TenantId).map(({ record }) => record)
      await waitUntil(() => placed().every(({ lastGood, revision }) => lastGood?.revision === revision), {
        what: 'every revision is the last good one',
        timeoutMs: 180_000,
      })
    },
    async secretsVersions() {
      const specs = await Promise.all(consumers.map((name) => api.get(`/api/v1/deployments/${name}`)))
      return Object.fromEntries(specs.map(versionOf))
    },
  }
}

const versionOf = ({ body }: ApiAnswer): [string, number] => [
  String(body['name']),
  Number(body['secretsVersion']),
]

/** Waits until only containers of the given revision of a deployment run. */
async function untilRevision(cluster: LabPlatform, name: string, revision: unknown): Promise<void> {
  await waitUntil(
    async () => {
      const { body } = await cluster.api('acme').get(`/api/v1/deployments/${name}`)
      const { phase, runningRevision } = Object(body['status'])
      return phase === 'Running' && runningRevision === revision
    },
    { what: `revision ${String(revision)} of ${name} runs`, timeoutMs: 60_000 },
  )
}

const ASK =
  'printf \'AUTH admin %s\\nHGETALL tried\\nECHO :\\nHGETALL done\\nECHO :\\nACL GETUSER app\\nECHO :\\nINFO commandstats\\n\' "$ADMIN_password" | redis-cli'

async function readTally(cluster: LabPlatform, node: string): Promise<Tally> {
  const output = await cluster.node(node).exec(['docker', 'exec', 'redis', 'sh', '-c', ASK])
  const [tried = '', done = '', user = '', stats = ''] = output.replace(/^OK\n/, '').split('\n:\n')
  const [triedBy, doneBy] = [countsIn(tried), countsIn(done)]
  const missed = [...triedBy].map(([container, count]) => Math.max(0, count - (doneBy.get(container) ?? 0)))
  const refused = Number(/cmdstat_auth:.*failed_calls=(\d+)/.exec(stats)?.[1] ?? Number.NaN)
  return {
    containers: doneBy.size,
    logins: sum(doneBy.values()),
    missed: sum(missed),
    refused,
    // Redis lists passwords as SHA-256 hashes, so the number of hashes is the number of passwords.
    passwords: [user.match(/^[0-9a-f]{64}$/gm)?.length ?? 0],
  }
}

function sumUp(tallies: readonly Tally[]): Tally {
  const total = (of: (tally: Tally) => number) => sum(tallies.map(of))
  return {
    containers: total((each) => each.containers),
    logins: total((each) => each.logins),
    missed: total((each) => each.missed),
    refused: total((each) => each.refused),
    passwords: tallies.flatMap(({ passwords }) => passwords),
  }
}

const sum = (counts: Iterable<number>): number => [...counts].reduce((all, each) => all + each, 0)

/** Parses a Redis hash as redis-cli prints it: a line for each field, followed by a line for its value. */
function countsIn(lines: string): Map<string, number> {
  const words = lines.split('\n')
  return new Map(
    words.flatMap((word, at) => (at % 2 === 0 && word !== '' ? [[word, Number(words[at + 1])]] : [])),
  )
}
