// Reads the command line: the command and its options. A mistake throws a UsageFault that names the mistake.

import { nearestName } from '@holdfast/contract'
import type { InitOptions } from './run-init.ts'

export const USAGE = `holdfast-server: the control plane of Holdfast

  holdfast-server serve  [--config FILE] [--roles ROLE,...]
                                                    run until SIGTERM
  holdfast-server init   [--config FILE] [--reissue] [--operator-token-file FILE]
                                                    make the platform and print its first token;
                                                    --reissue replaces a lost one. With the token of an
                                                    operator of the secrets store, set that up first and
                                                    print the identities that the configuration lacks
  holdfast-server check-config [--config FILE] [--profile production]
                                                    name every fault of the configuration; the profile
                                                    also refuses what is meant for development and labs
  holdfast-server upgrade plan [--config FILE] [--json]
                                                    list what blocks an upgrade to this version and what
                                                    follows from it; exit code 1 if something blocks
  holdfast-server upgrade finalize [--config FILE]  allow the servers to write the newest form of records;
                                                    afterwards older versions cannot start

The file may also be given as HOLDFAST_CONFIG. Every setting has a variable, which goes before the file.
`

/** A mistake in the command line. The message names in one sentence what was received and what is accepted. */
export class UsageFault extends Error {
  override readonly name = 'UsageFault'
}

export interface ConfiguredLine {
  readonly command: Command
  readonly config: string | undefined
  /** Value of the option --roles, which overrides the setting `roles` of the file and of the environment. */
  readonly roles: string | undefined
  /** The profile that check-config applies; absent: only errors are faults. */
  readonly profile?: 'production'
  readonly init: InitOptions
  /** Whether the result is printed as JSON. */
  readonly json: boolean
}

export type CommandLine = ConfiguredLine | { readonly command: 'help' }

/** The options of each command, and whether each option has a value. */
const OPTIONS = {
  serve: { '--config': true, '--roles': true },
  init: { '--config': true, '--reissue': false, '--operator-token-file': true },
  'check-config': { '--config': true, '--profile': true },
  'upgrade plan': { '--config': true, '--json': false },
  'upgrade finalize': { '--config': true },
} as const
const ASKS_FOR_HELP = ['help', '--help', '-h']

type Command = keyof typeof OPTIONS
const isCommand = (word: string): word is Command => Object.hasOwn(OPTIONS, word)

export function readCommandLine(words: readonly string[]): CommandLine {
  if (words.some((word) => ASKS_FOR_HELP.includes(word))) return { command: 'help' }
  const [command, rest] = commandOf(words)
  if (!isCommand(command)) throw unknown('command', command, Object.keys(OPTIONS))
  const { options, others } = sort(rest, OPTIONS[command])
  if (others[0] !== undefined) throw new UsageFault(`${command} takes options alone.`)
  const profile = options.get('--profile')
  if (profile !== undefined && profile !== 'production') throw unknown('profile', profile, ['production'])
  const operatorTokenFile = options.get('--operator-token-file')
  return {
    command,
    config: options.get('--config'),
    roles: options.get('--roles'),
    ...(profile === undefined ? {} : { profile }),
    json: options.has('--json'),
    init: {
      reissue: options.has('--reissue'),
      ...(operatorTokenFile === undefined ? {} : { operatorTokenFile }),
    },
  }
}

/** The command, which is one word, or two words after `upgrade`. */
function commandOf([first = '', ...rest]: readonly string[]): [string, readonly string[]] {
  const [second, ...others] = rest
  return first === 'upgrade' && second !== undefined ? [`${first} ${second}`, others] : [first, rest]
}

function sort(words: readonly string[], known: { readonly [option: string]: boolean }) {
  const options = new Map<string, string>()
  const others: string[] = []
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? ''
    if (!word.startsWith('-')) {
      others.push(word)
      continue
    }
    if (!Object.hasOwn(known, word)) throw unknown('option', word, Object.keys(known))
    if (options.has(word)) throw new UsageFault(`${word} is given twice.`)
    const value = known[word] ? words[++index] : ''
    if (value === undefined) throw new UsageFault(`${word} has no value.`)
    options.set(word, value)
  }
  return { options, others }
}

function unknown(kind: string, word: string, known: readonly string[]): UsageFault {
  const nearest = nearestName(word, known)
  const hint = nearest === undefined ? `accepted: ${known.join(', ')}` : `did you mean ${nearest}?`
  return new UsageFault(`There is no ${kind} ${JSON.stringify(word)}; ${hint}${nearest ? '' : '.'}`)
}
