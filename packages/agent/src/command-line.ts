// What was typed: the words of `enroll` and `run`, or undefined when they make no sense.

const DEFAULT_STATE = '/var/lib/holdfast-agent'
const DEFAULT_ENGINE = 'unix:///var/run/docker.sock'

export const USAGE = `holdfast-agent: the node agent of Holdfast

  holdfast-agent enroll --server URL --token T --name N     make this machine a node; the token comes from
         [--ca FILE] [--label KEY=VALUE]...                 POST /api/v1/nodes/join-tokens and is good once
         [--cpu-millis N --memory-bytes N]                  offer less than the whole machine
         [--state DIR] [--engine unix:///...]
  holdfast-agent run [--state DIR]                          run until SIGTERM; containers go on without it

State is kept in ${DEFAULT_STATE} unless --state says otherwise. The token may also be given as HOLDFAST_JOIN_TOKEN.
`

export interface EnrolLine {
  readonly command: 'enroll'
  readonly server: string
  readonly token: string
  readonly name: string
  readonly ca: string | undefined
  readonly labels: { readonly [key: string]: string }
  readonly capacity: { readonly cpuMillis: number; readonly memoryBytes: number } | undefined
  readonly state: string
  readonly engine: string
}

export type CommandLine = EnrolLine | { readonly command: 'run'; readonly state: string }

const ONCE = ['server', 'token', 'name', 'ca', 'cpu-millis', 'memory-bytes', 'state', 'engine']

export function readCommandLine(
  words: readonly string[],
  environment: { readonly [name: string]: string | undefined },
): CommandLine | undefined {
  const [command = '', ...rest] = words
  const options = readOptions(rest)
  if (options === undefined) return undefined
  const { once, labels } = options
  const state = once.get('state') ?? DEFAULT_STATE
  if (command === 'run')
    return [...once.keys()].every((key) => key === 'state') ? { command, state } : undefined
  if (command !== 'enroll') return undefined
  const [server, name] = [once.get('server'), once.get('name')]
  const token = once.get('token') ?? environment.HOLDFAST_JOIN_TOKEN
  if (server === undefined || token === undefined || name === undefined || !URL.canParse(server))
    return undefined
  const engine = once.get('engine') ?? DEFAULT_ENGINE
  const capacity = readCapacity(once)
  if (!engine.startsWith('unix://') || capacity === 'unreadable') return undefined
  return { command, server, token, name, ca: once.get('ca'), labels, capacity, state, engine }
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
