// `holdfast get`: lists resources of one kind, or shows one of them.

import { nearestName } from '@holdfast/contract'
import { KIND_HABITS } from '../args/habits.ts'
import { LISTED_BY_COMMAND, LIVE_KINDS, RESOURCE_NAMES } from '../args/resource-names.ts'
import type { OnlineCommand } from '../command.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { printError, printFailure } from '../print/failure.ts'
import { OUTPUT_OPTION, refuseYamlWatch } from '../print/output.ts'
import { print, type Terminal } from '../terminal/terminal.ts'

const KINDS = [...RESOURCE_NAMES, ...LISTED_BY_COMMAND]

const kindList = (): string =>
  KINDS.filter((each) => each.endsWith('s') || each === 'audit' || each === 'residency').join(', ')

export const get: OnlineCommand = {
  name: 'get',
  aliases: ['ls'],
  summary: 'list resources of one kind, or show one of them',
  details: `Kinds: ${kindList()}. The singular works too.`,
  args: [
    {
      name: 'kind',
      summary: 'kind of resource (default: deployments)',
      choices: KINDS,
      open: true,
      optional: true,
    },
    {
      name: 'name',
      summary: 'name of one resource',
      optional: true,
      completes: ([kind = '']) => LIVE_KINDS[kind],
    },
  ],
  options: [
    OUTPUT_OPTION,
    {
      flags: '-w, --watch',
      summary: 'keep listing and print each line again when it changes; with -o json one object per line',
    },
  ],
  examples: [
    ['holdfast get deployments', 'Lists all deployments of the tenant.'],
    ['holdfast get deployment web -o yaml', 'Shows one deployment with all its fields.'],
    ['holdfast get nodes -o wide -w', 'Lists the nodes and then every change.'],
  ],
  online: true,
  async run(invocation, client) {
    const { args, terminal, text, flag } = invocation
    const { kind, name } = typedResource(args)
    const command = await commandFor(kind)
    if (command !== undefined) return command.run({ ...invocation, args: [] }, client)
    const { findResource } = await import('../resources/index.ts')
    const resource = findResource(kind)
    if (resource === undefined) return printUnknownKind(terminal, kind)
    const form = text('output')
    if (flag('watch') && form === 'yaml') return refuseYamlWatch(terminal)
    const first = await resource.read(client, name)
    if (!first.ok) return printFailure(terminal, first.failure)
    const isFound = first.value.rows({ nowMs: terminal.now() }).size > 0
    if (name !== undefined && !isFound) {
      printError(terminal, kind === 'audit' ? `no audit entry of ${name}` : `there is no ${kind} ${name}`)
      return EXIT.notFound
    }
    if (!flag('watch')) {
      await first.value.print(terminal, form)
      return EXIT.ok
    }
    const { watchRows } = await import('../follow/watch-rows.ts')
    const readAgain = () => resource.read(client, name)
    if (form !== 'json' && form !== 'name') {
      await first.value.print(terminal, form)
      return watchRows(terminal, first.value, readAgain, { wide: form === 'wide' })
    }
    for (const row of first.value.rows({ nowMs: terminal.now(), form }).values()) print(terminal, row)
    return watchRows(terminal, first.value, readAgain, { form })
  },
}

/** Accepts `deployment web` and, as `-o name` prints it, `deployment/web`. */
function typedResource([kind = 'deployments', name]: readonly string[]) {
  const slash = kind.indexOf('/')
  return slash < 0 || name !== undefined
    ? { kind, name }
    : { kind: kind.slice(0, slash), name: kind.slice(slash + 1) }
}

/** The command that lists a kind which is no resource of `get`. */
async function commandFor(kind: string): Promise<OnlineCommand | undefined> {
  if (/^secrets?$/.test(kind)) return (await import('./secret/secret-list.ts')).secretList
  return /^tokens?$/.test(kind) ? (await import('./tenant/token-list.ts')).tokenList : undefined
}

function printUnknownKind(terminal: Terminal, kind: string): ExitCode {
  const nearest = nearestName(kind, KINDS)
  const next = KIND_HABITS[kind] ?? (nearest && `did you mean ${nearest}?`) ?? `kinds: ${kindList()}`
  printError(terminal, `there is no kind ${kind}; ${next}`)
  return EXIT.usage
}
