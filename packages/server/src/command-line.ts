// Reads the command line: the command and its options. A mistake throws a UsageFault that names the mistake.

import { nearestName } from '@holdfast/contract'
import type { DoctorRun } from './doctor/run-doctor.ts'
import type { InitOptions } from './run-init.ts'
import type { RestoredOptions } from './run-restored.ts'
import { readInviteRun } from './setup/join/read-invite-run.ts'
import type { InviteRun } from './setup/join/run-invite.ts'
import { readSetupRun } from './setup/read-setup-run.ts'
import type { SetupRun } from './setup/run-setup.ts'

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
  holdfast-server setup --single --public-url URL [--address IP] [--listen-port PORT] [--unseal-key-file FILE]
                        [--tenant NAME] [--registry HOST [--registry-ca FILE]] [--dry-run]
                        [--engines DIR] [--root DIR]
                                                    set up etcd, the secrets store, the broker and the server
                                                    on this machine and print the first token and the unseal
                                                    key; may be repeated; --dry-run prints the steps. With
                                                    --address, other machines can join
  holdfast-server setup invite --name NAME --address IP [--to FILE]
                                                    write an invitation for a further machine, which contains
                                                    its keys; needs the key of the platform's authority
  holdfast-server setup --join FILE --unseal-key-file FILE [--listen-port PORT] [--dry-run] [--engines DIR]
                        [--root DIR]                set up this machine as a further one of the platform that
                                                    invited it; may be repeated
  holdfast-server doctor [--config FILE] [--disk] [--json]
                                                    check the platform from this machine, with a remedy for
                                                    each failure; --disk also measures the disk. Ends with 0,
                                                    with 1 after warnings, or with 2 after failures
  holdfast-server upgrade plan [--config FILE] [--json]
                                                    list what blocks an upgrade to this version and what
                                                    follows from it; exit code 1 if something blocks
  holdfast-server upgrade finalize [--config FILE]  allow the servers to write the newest form of records;
                                                    afterwards older versions cannot start
  holdfast-server upgrade oldest [--config FILE]    print the oldest version that can start on these records
  holdfast-server restored [--config FILE]          declare that etcd was restored from a backup: void what must not
                                                    be used twice, and list the tokens and nodes that work again
  holdfast-server restored --confirm [--tenant ID] [--config FILE]
                                                    let agents remove what the restored store does not name

The file may also be given as HOLDFAST_CONFIG. Every setting has a variable, which goes before the file.
`

/** A mistake in the command line. The message names in one sentence what was received and what is accepted. */
export class UsageFault extends Error {
  override readonly name = 'UsageFault'
}

export interface ConfiguredLine {
  readonly command: Exclude<Command, 'setup' | 'setup invite' | 'doctor'>
  readonly config: string | undefined
  /** Value of the option --roles, which overrides the setting `roles` of the file and of the environment. */
  readonly roles: string | undefined
  /** The profile that check-config applies; absent: only errors are faults. */
  readonly profile?: 'production'
  readonly init: InitOptions
  readonly restored: RestoredOptions
  /** Whether the result is printed as JSON. */
  readonly json: boolean
}

export type CommandLine =
  | ConfiguredLine
  | { readonly command: 'help' }
  | { readonly command: 'setup'; readonly run: SetupRun }
  | { readonly command: 'setup invite'; readonly run: InviteRun }
  | { readonly command: 'doctor'; readonly run: DoctorRun }

/** The options of each command, and whether each option has a value. */
const OPTIONS = {
  serve: { '--config': true, '--roles': true },
  init: { '--config': true, '--reissue': false, '--operator-token-file': true },
  'check-config': { '--config': true, '--profile': true },
  setup: {
    '--single': false,
    '--join': true,
    '--address': true,
    '--public-url': true,
    '--listen-port': true,
    '--unseal-key-file': true,
    '--dry-run': false,
    '--engines': true,
    '--root': true,
    '--tenant': true,
    '--registry': true,
    '--registry-ca': true,
  },
  'setup invite': { '--name': true, '--address': true, '--to': true },
  doctor: { '--config': true, '--disk': false, '--json': false },
  'upgrade plan': { '--config': true, '--json': false },
  'upgrade finalize': { '--config': true },
  'upgrade oldest': { '--config': true },
  restored: { '--config': true, '--confirm': false, '--tenant': true },
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
  if (command === 'setup') return { command, run: requireRun(readSetupRun(options)) }
  if (command === 'setup invite') return { command, run: requireRun(readInviteRun(options)) }
  if (command === 'doctor') {
    const [withDisk, asJson] = [options.has('--disk'), options.has('--json')]
    return { command, run: { config: options.get('--config'), withDisk, asJson } }
  }
  const profile = options.get('--profile')
  if (profile !== undefined && profile !== 'production') throw unknown('profile', profile, ['production'])
  const operatorTokenFile = options.get('--operator-token-file')
  const [confirm, tenant] = [options.has('--confirm'), options.get('--tenant')]
  if (tenant !== undefined && !confirm) throw new UsageFault('--tenant needs --confirm.')
  return {
    command,
    config: options.get('--config'),
    roles: options.get('--roles'),
    ...(profile === undefined ? {} : { profile }),
    json: options.has('--json'),
    restored: { confirm, ...(tenant === undefined ? {} : { tenant }) },
    init: {
      reissue: options.has('--reissue'),
      ...(operatorTokenFile === undefined ? {} : { operatorTokenFile }),
    },
  }
}

/** The command, which is one word, or two words as in `upgrade plan` and `setup invite`. */
function commandOf([first = '', ...rest]: readonly string[]): [string, readonly string[]] {
  const [second, ...others] = rest
  const isPair = second !== undefined && (first === 'upgrade' || isCommand(`${first} ${second}`))
  return isPair ? [`${first} ${second}`, others] : [first, rest]
}

type Read<Run> =
  | { readonly kind: 'run'; readonly run: Run }
  | { readonly kind: 'fault'; readonly why: string }

function requireRun<Run>(read: Read<Run>): Run {
  if (read.kind === 'run') return read.run
  throw new UsageFault(read.why)
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
