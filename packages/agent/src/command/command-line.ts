// What was typed: the words of `enroll` and `run`. What makes no sense is thrown as a fault of usage, by name.

import { nearestName } from '@holdfast/contract'
import { ROUTING_OPTIONS, type RoutingLine, readRouting } from './routing-line.ts'
import { UsageFault } from './usage-fault.ts'

const DEFAULT_STATE = '/var/lib/holdfast-agent'
const DEFAULT_ENGINE = 'unix:///var/run/docker.sock'

export const USAGE = `holdfast-agent: the node agent of Holdfast

  holdfast-agent enroll --server URL --token T --name N     make this machine a node; the token comes from
         [--ca-pin sha256:HEX | --ca FILE]                  POST /api/v1/nodes/join-tokens and is good once
         [--label KEY=VALUE]...
         [--cpu-millis N --memory-bytes N]                  offer less than the whole machine
         [--state DIR] [--engine unix:///...]
  holdfast-agent run [--state DIR]                          run until SIGTERM; containers go on without it
         [--label KEY=VALUE]... | [--labels none]           all labels of this run, instead of those of enrollment
         [--routes-listen ADDRESS,...]                      where Caddy serves what is routed, :80 unless told
         [--routes-tls off|internal|acme]                   with certificates: :80 leads to :443 then
         [--acme-directory URL] [--acme-email E]
         [--peer-address HOST:PORT]                         where the tenant's other nodes reach this one's Caddy
         [--peer-listen ADDRESS]                            the port of it on all addresses unless told
         [--caddy-socket FILE] [--caddy-config FILE]        as in holdfast-caddy.service unless told

State is kept in ${DEFAULT_STATE} unless --state says otherwise. The token may also be given as HOLDFAST_JOIN_TOKEN.

Labels are advertised whenever the agent connects; other ones count once it is started again. Of those below holdfast.io/
only what the join token attests counts. Replicas that may not be on this node any more move to others.
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
}

export interface RunLine {
  readonly command: 'run'
  readonly state: string
  /** Undefined: those that enrollment wrote. */
  readonly labels: { readonly [key: string]: string } | undefined
  readonly routing: RoutingLine
}

export type CommandLine = EnrollLine | RunLine

const CA_PIN = /^sha256:[0-9a-f]{64}$/i
const ENROLL_OPTIONS = ['server', 'token', 'name', 'ca', 'ca-pin', 'cpu-millis', 'memory-bytes', 'engine']
const OPTIONS = {
  enroll: ['state', 'label', ...ENROLL_OPTIONS],
  run: ['state', 'label', 'labels', ...ROUTING_OPTIONS],
}

export function readCommandLine(
  words: readonly string[],
  environment: { readonly [name: string]: string | undefined },
): CommandLine {
  const [command = '', ...rest] = words
  if (command !== 'enroll' && command !== 'run')
    throw new UsageFault(`There is no command ${JSON.stringify(command)}: enroll or run.`)
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
  }
}

function readEnroll({ once, labels }: Options, joinToken: string | undefined): EnrollLine {
  const engine = once.get('engine') ?? DEFAULT_ENGINE
  if (!engine.startsWith('unix://'))
    throw new UsageFault(`--engine ${engine}: accepted is unix:// and the path of the engine's socket.`)
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
  }
}

function needed(option: string, value: string | undefined): string {
  if (value === undefined) throw new UsageFault(`enroll needs --${option}.`)
  return value
}

function readServer(given: string | undefined): string {
  const server = needed('server', given)
  if (!URL.canParse(server))
    throw new UsageFault(`--server ${server}: accepted is an address such as https://holdfast.example:8443.`)
  return server
}

function readTrust(ca: string | undefined, caPin: string | undefined): Pick<EnrollLine, 'ca' | 'caPin'> {
  if (ca !== undefined && caPin !== undefined)
    throw new UsageFault('--ca and --ca-pin: accepted is one of them.')
  if (caPin !== undefined && !CA_PIN.test(caPin))
    throw new UsageFault(`--ca-pin ${caPin}: accepted is sha256: and 64 hexadecimal digits.`)
  return { ca, caPin }
}

/** Undefined: nothing was said of labels. */
function readLabels(word: string | undefined, labels: Options['labels']): RunLine['labels'] {
  const some = Object.keys(labels).length > 0
  if (word === undefined) return some ? labels : undefined
  if (word !== 'none')
    throw new UsageFault(`--labels ${word}: accepted is none, or --label KEY=VALUE for each.`)
  if (some) throw new UsageFault('--labels none and --label: accepted is one of them.')
  return {}
}

interface Options {
  readonly once: ReadonlyMap<string, string>
  readonly labels: { readonly [key: string]: string }
}

/** Each option has a value and comes once; only labels come again. */
function readOptions(command: keyof typeof OPTIONS, words: readonly string[]): Options {
  const once = new Map<string, string>()
  const labels = new Map<string, string>()
  for (let index = 0; index < words.length; index += 2) {
    const option = readOption(command, words[index] ?? '')
    const value = words[index + 1]
    if (value === undefined) throw new UsageFault(`--${option} has no value.`)
    const equals = value.indexOf('=')
    if (option === 'label' && equals < 1) throw new UsageFault(`--label ${value}: accepted is KEY=VALUE.`)
    if (option === 'label') labels.set(value.slice(0, equals), value.slice(equals + 1))
    else if (once.has(option)) throw new UsageFault(`--${option} is given twice.`)
    else once.set(option, value)
  }
  return { once, labels: Object.fromEntries(labels) }
}

function readOption(command: keyof typeof OPTIONS, word: string): string {
  const option = word.replace(/^--/, '')
  const known = OPTIONS[command]
  if (word.startsWith('--') && known.includes(option)) return option
  // Only what looks like an option is repeated: anything else may be the value of one, a token for instance.
  if (!word.startsWith('--'))
    throw new UsageFault(`${command} takes options with two dashes, each with a value.`)
  const nearest = nearestName(option, known)
  throw new UsageFault(`${command} has no option ${word}.${nearest ? ` Did you mean --${nearest}?` : ''}`)
}

function readCapacity(cpu: string | undefined, memory: string | undefined): EnrollLine['capacity'] {
  if (cpu === undefined && memory === undefined) return undefined
  if (cpu === undefined || memory === undefined)
    throw new UsageFault('--cpu-millis and --memory-bytes: accepted are both or neither.')
  return { cpuMillis: readCount('cpu-millis', cpu), memoryBytes: readCount('memory-bytes', memory) }
}

function readCount(option: string, text: string): number {
  const count = Number(text)
  if (!Number.isSafeInteger(count) || count <= 0)
    throw new UsageFault(`--${option} ${text}: accepted is a whole number above zero.`)
  return count
}
