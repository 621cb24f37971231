// `holdfast rollout canary status`: the phase, the failures and the replicas of a canary.

import type { Canary, PlacementEntry } from '@holdfast/contract'
import { DEPLOYMENT_ARGUMENT, deploymentName } from '../../../args/deployment-argument.ts'
import type { OnlineCommand } from '../../../command.ts'
import { EXIT } from '../../../exit-codes.ts'
import { age } from '../../../print/age.ts'
import { outArea, type PrintArea } from '../../../print/area.ts'
import { replicaState } from '../../../print/containers.ts'
import { printError, printFailure } from '../../../print/failure.ts'
import { yamlText } from '../../../print/output.ts'
import { plain } from '../../../print/plain.ts'
import { factLines } from '../../../print/sections.ts'
import { type Column, tableLines } from '../../../print/table.ts'
import { print } from '../../../terminal/terminal.ts'

export const canaryStatus: OnlineCommand = {
  name: 'rollout canary status',
  summary: 'show the canary of a deployment',
  args: [DEPLOYMENT_ARGUMENT],
  options: [
    {
      flags: '-o, --output <form>',
      summary: 'output format (default: table)',
      choices: ['table', 'json', 'yaml'],
    },
  ],
  examples: [
    ['holdfast rollout canary status web', 'Shows its phase, its replicas and what failed.'],
    ['holdfast rollout canary status web -o json', 'Prints the canary for a script.'],
  ],
  online: true,
  async run({ terminal, args, text }, client) {
    const name = deploymentName(args[0])
    const [record, placements] = await Promise.all([
      client.deployments.read(name),
      client.deployments.placements(name),
    ])
    if (!record.ok) return printFailure(terminal, record.failure)
    if (!placements.ok) return printFailure(terminal, placements.failure)
    const { canary } = record.value
    if (canary === undefined) {
      printError(terminal, `${name} has no canary; holdfast rollout canary start ${name} starts one`)
      return EXIT.notFound
    }
    const form = text('output')
    if (form === 'json') print(terminal, JSON.stringify(canary, null, 2))
    else if (form === 'yaml') terminal.out(await yamlText(canary))
    else {
      const own = placements.value.items.filter((entry) => entry.canary === true)
      const lines = canaryLines(canary, own, terminal.now(), outArea(terminal))
      terminal.out(`${lines.join('\n')}\n`)
    }
    return EXIT.ok
  },
}

const COLUMNS: readonly Column<PlacementEntry>[] = [
  { header: 'REPLICA', value: ({ replica }) => String(replica) },
  { header: 'NODE', value: ({ nodeName }) => nodeName },
  { header: 'STATE', value: replicaState },
  { header: 'UP', drop: 1, value: ({ startedAt }, nowMs) => age(startedAt, nowMs) },
]

export function canaryLines(
  { phase, reason, since, change, replicas, weight, observe, failures }: Canary,
  own: readonly PlacementEntry[],
  nowMs: number,
  area: PrintArea,
): string[] {
  const { columns, colored } = area
  const facts: [string, string][] = [
    ['Phase', reason === '' ? phase : `${phase} (${reason})`],
    ['Since', `${since} (${age(since, nowMs)} ago)`],
    ['Changes', Object.keys(change).join(', ')],
    ['Replicas', String(replicas)],
    ['Weight', `${weight} % of the routed requests`],
    ['Observe', observe],
    ...failures.map((each): [string, string] => ['Failed', failureText(each)]),
  ]
  const table = own.length === 0 ? [] : ['', ...tableLines(COLUMNS, own, { nowMs, columns, colored })]
  return [...factLines(facts, area), ...table]
}

const failureText = ({ replica, reason, cause, at }: Canary['failures'][number]): string =>
  plain(`replica ${replica} ${reason}${cause === undefined ? '' : `: ${cause}`} (${at})`)
