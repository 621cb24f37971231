// Parses the command line of `enroll` and `run`. A usage error is thrown before the command has any effect.

import { isAbsolute } from 'node:path'
import { nearestName } from '@holdfast/contract'
import type { PoolSource } from '../ports/pool-source.ts'
import { PEER_OPTIONS, type PeerLine, readPeerLine, readPromiseLease } from './peer-line.ts'
import { readPool } from './pool-line.ts'
import { ROUTING_OPTIONS, type RoutingLine, readRouting } from './routing-line.ts'
import { UsageError } from './usage-error.ts'

const DEFAULT_STATE = '/var/lib/holdfast-agent'
const DEFAULT_ENGINE = 'unix:///var/run/docker.sock'

/** The file with the options of holdfast-agent.service. */
export const OPTIONS_FILE = '/etc/holdfast/agent.env'

/** The folder of holdfast-fencer.service. */
export const FENCER_FOLDER = '/run/holdfast-fencer'

export const USAGE = `holdfast-agent: the node agent of Holdfast

  holdfast-agent enroll --server URL --token T --name N     make this machine a node; the token comes from
         [--ca-pin sha256:HEX | --ca FILE]                  POST /api/v1/nodes/join-tokens and works once
         [--label KEY=VALUE]...
         [--cpu-millis N --memory-bytes N]                  offer less than the whole machine
         [--state DIR] [--engine unix:///...]
         [--start [OPTION OF run]...]                       then enable and start the units of the agent with these
                                                            options, which ${OPTIONS_FILE} keeps
  holdfast-agent run [--state DIR]                          run until SIGTERM; containers keep running after it
         [--label KEY=VALUE]... | [--labels none]           labels for this run instead of the enrolled ones
         [--routes-listen ADDRESS,...]                      where Caddy serves routes (default :80)
         [--routes-tls off|internal|acme]                   serve HTTPS; :80 then redirects to :443
         [--acme-directory URL] [--acme-email E]
         [--peer-address HOST:PORT]                         where the tenant's other nodes reach this node's Caddy
         [--peer-listen ADDRESS]                            default: that port on all addresses
         [--secure-peer-address HOST:PORT]                  the same by mutual TLS (default: plain HTTP only)
         [--secure-peer-listen ADDRESS]                     default: the host of --peer-listen with that port
         [--caddy-socket FILE] [--caddy-config FILE]        default: as in holdfast-caddy.service
         [--pool PATH | --pool FILE:SIZE]                   storage for volumes: a mounted btrfs file system, or a
                                                            file that the agent creates, such as /srv/pool.img:100Gi
         [--cgroup NAME]                                    cgroup of the containers that write volumes (default holdfast)
         [--fencer FOLDER]                                  folder of holdfast-fencer's files (default
                                                            ${FENCER_FOLDER}, if it exists)
         [--agent-peer-address HOST[:PORT]]                 where other nodes exchange copies of volumes with this
                                                            one (default port 7844)
         [--agent-peer-listen [HOST]:PORT]                  default: that port on all addresses
         [--replication-rate BYTES]                         most bytes per second to other nodes (default 100Mi)
         [--promise-lease SECONDS]                          how long this node may write a volume without an answer of
                                                            its copies (default 12); the same on all nodes of a tenant

The state folder is ${DEFAULT_STATE} by default. The join token can also be set in HOLDFAST_JOIN_TOKEN.

The agent sends its labels whenever it connects; restart it to change them. Labels below holdfast.io/ are used only if the
join token attests them. Replicas that no longer fit the node's labels are moved to other nodes.
`

export interface EnrollLine {
  readonly command: 'enroll'
  readonly server: string
  readonly token: string
  readonly name: string
  readonly ca: string | undefined
  readonly caPin: string | undefined
  readonly labels: { readonly [key: string]: string }
  readonly capacity: { readonly cpuMillis: number; readonly memoryBytes: number } | undefined
  readonly state: string
  readonly engine: string
  /** Options of `run` with which the units are started; undefined: the units are not started. */
  readonly start: readonly string[] | undefined
}

export interface RunLine {
  readonly command: 'run'
  readonly state: string
  /** Labels from the command line; undefined: the labels of the enrollment are used. */
  readonly labels: { readonly [key: string]: string } | undefined
  readonly routing: RoutingLine
  /** The storage of this node; undefined: it holds no volumes. */
  readonly pool: PoolSource | undefined
  /** The cgroup of all containers that write volumes; undefined: the default one. */
  readonly cgroup: string | undefined
  /** The folder of the fencer's files; undefined: the default one, if it exists. */
  readonly fencer: string | undefined
  /** The port for other nodes; undefined: this node exchanges no copies. */
  readonly peers: PeerLine | undefined
  /** The length of leases in milliseconds; undefined: the default. */
  readonly promiseLeaseMs: number | undefined
}

export type CommandLine = EnrollLine | RunLine

const CA_PIN = /^sha256:[0-9a-f]{64}$/i
const ENROLL_OPTIONS = ['server', 'token', 'name', 'ca', 'ca-pin', 'cpu-millis', 'memory-bytes', 'engine']
/** The options of `run` that describe the machine and not its enrollment. */
const MACHINE_OPTIONS = ['pool', 'cgroup', 'fencer', ...PEER_OPTIONS, ...ROUTING_OPTIONS]
const OPTIONS = {
  enroll: ['state', 'label', 'start', ...ENROLL_OPTIONS, ...MACHINE_OPTIONS],
  run: ['state', 'label', 'labels', ...MACHINE_OPTIONS],
}
/** Options without a value. */
const FLAGS = ['start']

export function readCommandLine(
  words: readonly string[],
  environment: { readonly [name: string]: string | undefined },
): CommandLine {
  const [command = '', ...rest] = words
  if (command !== 'enroll' && command !== 'run')
    throw new UsageError(`Unknown command ${JSON.stringify(command)}; use enroll or run.`)
  const options = readOptions(command, rest)
  return command === 'run' ? readRun(options) : readEnroll(options, environment.HOLDFAST_JOIN_TOKEN)
}

function readRun({ once, labels }: Options): RunLine {
  const state = once.get('state') ?? DEFAULT_STATE
  return {
    command: 'run',
    state,
    labels: readLabels(once.get('labels'), labels),
    routing: readRouting(once),
    pool: readPool(once.get('pool')),
    cgroup: readCgroup(once.get('cgroup')),
    fencer: readFencer(once.get('fencer')),
    peers: readPeerLine(once),
    promiseLeaseMs: readPromiseLease(once.get('promise-lease')),
  }
}

/** Below a slash only the cgroupfs driver of Docker has cgroups; systemd accepts a single name. */
const CGROUP = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}){0,7}$/

/** A dash in the name of a slice begins a slice below, which must have a name. */
const UNNAMED_SLICE = /^[^/]*-(?:-[^/]*)?$/

function readCgroup(cgroup: string | undefined): string | undefined {
  if (cgroup !== undefined && UNNAMED_SLICE.test(cgroup))
    throw new UsageError(
      `--cgroup ${cgroup}: systemd has no slice of this name. Use single dashes, and none at the end.`,
    )
  if (cgroup === undefined || CGROUP.test(cgroup)) return cgroup
  throw new UsageError(`--cgroup ${cgroup}: accepted is a name, or a path of names without a leading slash.`)
}

function readFencer(folder: string | undefined): string | undefined {
  if (folder === undefined || isAbsolute(folder)) return folder
  throw new UsageError(`--fencer ${folder}: accepted is the absolute path of a folder.`)
}

function readEnroll({ once, labels }: Options, joinToken: string | undefined): EnrollLine {
  const engine = once.get('engine') ?? DEFAULT_ENGINE
  if (!engine.startsWith('unix://'))
    throw new UsageError(`--engine ${engine}: accepted is unix:// and the path of the engine's socket.`)
  return {
    command: 'enroll',
    server: readServer(once.get('server')),
    token: needed('token', once.get('token') ?? joinToken),
    name: needed('name', once.get('name')),
    ...readTrust(once.get('ca'), once.get('ca-pin')),
    labels,
    capacity: readCapacity(once.get('cpu-millis'), once.get('memory-bytes')),
    state: once.get('state') ?? DEFAULT_STATE,
    engine,
    start: readStart(once),
  }
}

/** systemd splits the options of the unit at spaces, and gives quotes, backslashes and dollar signs a meaning. */
const PLAIN_WORD = /^[A-Za-z0-9._/:,@=+[\]-]+$/

/** Checks the options of `run` now, because a unit that does not start would report the mistake in its log only. */
function readStart(once: ReadonlyMap<string, string>): EnrollLine['start'] {
  const given = MACHINE_OPTIONS.filter((option) => once.has(option))
  if (!once.has('start')) {
    if (given[0] === undefined) return undefined
    throw new UsageError(`--${given[0]} is an option of run; enroll accepts it after --start.`)
  }
  if ((once.get('state') ?? DEFAULT_STATE) !== DEFAULT_STATE)
    throw new UsageError(`--start: the unit uses ${DEFAULT_STATE}; omit --state.`)
  readRun({ once, labels: {} })
  return given.flatMap((option) => [`--${option}`, readWord(option, once.get(option) ?? '')])
}

function readWord(option: string, value: string): string {
  if (PLAIN_WORD.test(value)) return value
  throw new UsageError(
    `--${option} ${value}: accepted after --start are letters, digits and . _ / : , @ = + [ ] -`,
  )
}

function needed(option: string, value: string | undefined): string {
  if (value === undefined) throw new UsageError(`enroll needs --${option}.`)
  return value
}

function readServer(given: string | undefined): string {
  const server = needed('server', given)
  if (!URL.canParse(server))
    throw new UsageError(`--server ${server}: accepted is an address such as https://holdfast.example:8443.`)
  return server
}

function readTrust(ca: string | undefined, caPin: string | undefined): Pick<EnrollLine, 'ca' | 'caPin'> {
  if (ca !== undefined && caPin !== undefined)
    throw new UsageError('--ca and --ca-pin: accepted is one of them.')
  if (caPin !== undefined && !CA_PIN.test(caPin))
    throw new UsageError(`--ca-pin ${caPin}: accepted is sha256: and 64 hexadecimal digits.`)
  return { ca, caPin }
}

/** Parses the labels of the command line; undefined if the command line has no labels. */
function readLabels(word: string | undefined, labels: Options['labels']): RunLine['labels'] {
  const some = Object.keys(labels).length > 0
  if (word === undefined) return some ? labels : undefined
  if (word !== 'none')
    throw new UsageError(`--labels ${word}: accepted is none, or --label KEY=VALUE for each.`)
  if (some) throw new UsageError('--labels none and --label: accepted is one of them.')
  return {}
}

interface Options {
  readonly once: ReadonlyMap<string, string>
  readonly labels: { readonly [key: string]: string }
}

/** Parses options. Every option but a flag has a value; only --label may be repeated. */
function readOptions(command: keyof typeof OPTIONS, words: readonly string[]): Options {
  const once = new Map<string, string>()
  const labels = new Map<string, string>()
  for (let index = 0; index < words.length; index += 1) {
    const option = readOption(command, words[index] ?? '')
    const value = FLAGS.includes(option) ? '' : words[++index]
    if (value === undefined) throw new UsageError(`--${option} has no value.`)
    const equals = value.indexOf('=')
    if (option === 'label' && equals < 1) throw new UsageError(`--label ${value}: accepted is KEY=VALUE.`)
    if (option === 'label') labels.set(value.slice(0, equals), value.slice(equals + 1))
    else if (once.has(option)) throw new UsageError(`--${option} is given twice.`)
    else once.set(option, value)
  }
  return { once, labels: Object.fromEntries(labels) }
}

function readOption(command: keyof typeof OPTIONS, word: string): string {
  const option = word.replace(/^--/, '')
  const known = OPTIONS[command]
  if (word.startsWith('--') && known.includes(option)) return option
  // The message quotes a word only if the word starts with `--`: any other word may be a token.
  if (!word.startsWith('--'))
    throw new UsageError(`${command} takes options with two dashes, each with a value.`)
  const nearest = nearestName(option, known)
  throw new UsageError(`${command} has no option ${word}.${nearest ? ` Did you mean --${nearest}?` : ''}`)
}

function readCapacity(cpu: string | undefined, memory: string | undefined): EnrollLine['capacity'] {
  if (cpu === undefined && memory === undefined) return undefined
  if (cpu === undefined || memory === undefined)
    throw new UsageError('--cpu-millis and --memory-bytes: accepted are both or neither.')
  return { cpuMillis: readCount('cpu-millis', cpu), memoryBytes: readCount('memory-bytes', memory) }
}

function readCount(option: string, text: string): number {
  const count = Number(text)
  if (!Number.isSafeInteger(count) || count <= 0)
    throw new UsageError(`--${option} ${text}: accepted is a whole number above zero.`)
  return count
}
