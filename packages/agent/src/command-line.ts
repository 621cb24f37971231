// What was typed: the words of `enroll` and `run`, or undefined when they make no sense.

import { ROUTING_OPTIONS, type RoutingLine, readRouting } from './routing-line.ts'

const DEFAULT_STATE = '/var/lib/holdfast-agent'
const DEFAULT_ENGINE = 'unix:///var/run/docker.sock'

export const USAGE = `holdfast-agent: the node agent of Holdfast

  holdfast-agent enroll --server URL --token T --name N     make this machine a node; the token comes from
         [--ca-pin sha256:HEX | --ca FILE]                  POST /api/v1/nodes/join-tokens and is good once
         [--label KEY=VALUE]...
         [--cpu-millis N --memory-bytes N]                  offer less than the whole machine
         [--state DIR] [--engine unix:///...]
  holdfast-agent run [--state DIR]                          run until SIGTERM; containers go on without it
         [--label KEY=VALUE]... | [--labels none]           all labels of this run, instead of those of enrolment
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

export interface EnrolLine {
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
  /** Undefined: those that enrolment wrote. */
  readonly labels: { readonly [key: string]: string } | undefined
  readonly routing: RoutingLine
}

export type CommandLine = EnrolLine | RunLine

const CA_PIN = /^sha256:[0-9a-f]{64}$/i
const ENROL_OPTIONS = ['server', 'token', 'name', 'ca', 'ca-pin', 'cpu-millis', 'memory-bytes', 'engine']
const RUN_OPTIONS = ['labels', ...ROUTING_OPTIONS]
const ONCE = ['state', ...ENROL_OPTIONS, ...RUN_OPTIONS]

export function readCommandLine(
  words: readonly string[],
  environment: { readonly [name: string]: string | undefined },
): CommandLine | undefined {
  const [command = '', ...rest] = words
  const options = readOptions(rest)
  if (options === undefined) return undefined
  const { once, labels } = options
  const state = once.get('state') ?? DEFAULT_STATE
  const isOnly = (allowed: readonly string[]): boolean =>
    [...once.keys()].every((key) => key === 'state' || allowed.includes(key))
  if (command === 'run') {
    const routing = isOnly(RUN_OPTIONS) ? readRouting(once) : undefined
    const told = readLabels(once.get('labels'), labels)
    return routing === undefined || told === 'unreadable'
      ? undefined
      : { command, state, labels: told, routing }
  }
  if (command !== 'enroll' || !isOnly(ENROL_OPTIONS)) return undefined
  const [server, name] = [once.get('server'), once.get('name')]
  const token = once.get('token') ?? environment.HOLDFAST_JOIN_TOKEN
  if (server === undefined || token === undefined || name === undefined || !URL.canParse(server))
    return undefined
  const engine = once.get('engine') ?? DEFAULT_ENGINE
  const capacity = readCapacity(once)
  if (!engine.startsWith('unix://') || capacity === 'unreadable') return undefined
  const [ca, caPin] = [once.get('ca'), once.get('ca-pin')]
  if (caPin !== undefined && (ca !== undefined || !CA_PIN.test(caPin))) return undefined
  return { command, server, token, name, ca, caPin, labels, capacity, state, engine }
}

/** Undefined: nothing was said of labels. */
function readLabels(word: string | undefined, labels: Options['labels']): RunLine['labels'] | 'unreadable' {
  const some = Object.keys(labels).length > 0
  if (word === undefined) return some ? labels : undefined
  return word === 'none' && !some ? {} : 'unreadable'
}

interface Options {
  readonly once: ReadonlyMap<string, string>
  readonly labels: { readonly [key: string]: string }
}

/** Each option has a value and comes once; only labels come again. */
function readOptions(words: readonly string[]): Options | undefined {
  const once = new Map<string, string>()
  const labels = new Map<string, string>()
  for (let index = 0; index < words.length; index += 2) {
    const option = words[index]?.replace(/^--/, '') ?? ''
    const value = words[index + 1]
    if (value === undefined || !words[index]?.startsWith('--')) return undefined
    const equals = value.indexOf('=')
    if (option === 'label' && equals > 0) labels.set(value.slice(0, equals), value.slice(equals + 1))
    else if (ONCE.includes(option) && !once.has(option)) once.set(option, value)
    else return undefined
  }
  return { once, labels: Object.fromEntries(labels) }
}

function readCapacity(once: ReadonlyMap<string, string>): EnrolLine['capacity'] | 'unreadable' {
  const [cpu, memory] = [once.get('cpu-millis'), once.get('memory-bytes')]
  if (cpu === undefined && memory === undefined) return undefined
  const [cpuMillis, memoryBytes] = [Number(cpu), Number(memory)]
  const sound =
    Number.isSafeInteger(cpuMillis) && Number.isSafeInteger(memoryBytes) && cpuMillis > 0 && memoryBytes > 0
  return sound ? { cpuMillis, memoryBytes } : 'unreadable'
}
