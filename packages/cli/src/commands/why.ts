// `holdfast why`: explains why a deployment does not run: the containers that fail, then its placement, node by node.

import type { Client, Result, WhyQuery } from '@holdfast/client'
import type { Candidate, NodeGroup, Why } from '@holdfast/contract'
import { DEPLOYMENT_ARGUMENT, deploymentName } from '../args/deployment-argument.ts'
import { POINT_IN_TIME, pointInTime } from '../args/forms.ts'
import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { outArea } from '../print/area.ts'
import { containerLines } from '../print/containers.ts'
import { printFailure } from '../print/failure.ts'
import { wrapWords } from '../print/fit.ts'
import { matrixLines } from '../print/matrix.ts'
import { yamlText } from '../print/output.ts'
import { plain } from '../print/plain.ts'
import { print } from '../terminal/terminal.ts'

export const why: OnlineCommand = {
  name: 'why',
  summary:
    'explain why a deployment does not run: failing containers, every node, every reason, the remedies',
  args: [DEPLOYMENT_ARGUMENT],
  options: [
    {
      flags: '--at <time>',
      summary: 'explain an earlier decision: a time, or a duration before now such as 10m',
      form: POINT_IN_TIME,
    },
    {
      flags: '-o, --output <form>',
      summary: 'output format (default: table)',
      choices: ['table', 'json', 'yaml'],
    },
  ],
  examples: [
    ['holdfast why web', 'Shows why containers fail or replicas have no node now.'],
    ['holdfast why web --at 10m', 'Shows the explanation of ten minutes ago.'],
  ],
  online: true,
  async run({ terminal, args: [typed], text }, client) {
    const at = text('at')
    const time = at === undefined ? undefined : pointInTime(at, terminal.now())
    const isData = text('output') === 'json' || text('output') === 'yaml'
    const query = { at: time, view: isData ? 'candidates' : 'groups' } as const
    const read = await readPages(client, deploymentName(typed), query)
    if (!read.ok) return printFailure(terminal, read.failure)
    if (text('output') === 'json') print(terminal, JSON.stringify(read.value, null, 2))
    else if (text('output') === 'yaml') terminal.out(await yamlText(read.value))
    else {
      const { phase, decidedAt } = read.value
      print(terminal, plain(`${phase}${decidedAt === null ? '' : `, decided at ${decidedAt}`}`))
      const area = outArea(terminal)
      const failing = containerLines(read.value.containers ?? [], terminal.now(), area)
      const lines = [
        ...wrapWords(plain(read.value.summary), area.columns),
        ...(failing.length === 0 ? [] : ['', ...failing, ...nextStep(read.value, deploymentName(typed)), '']),
        ...matrixLines(read.value, area),
      ]
      terminal.out(`${lines.join('\n')}\n`)
    }
    return EXIT.ok
  },
}

/** The command that prints the last output of a container that exited. */
const nextStep = ({ containers = [] }: Why, name: string): string[] =>
  containers.some(({ lastExit }) => lastExit !== undefined) ? [`next: holdfast logs ${name} --previous`] : []

/** Reads all pages of an explanation. A group that continues on the next page is one group here. */
async function readPages(
  client: Client,
  name: string,
  query: Pick<WhyQuery, 'at' | 'view'>,
): Promise<Result<Why>> {
  const candidates: Candidate[] = []
  const groups: NodeGroup[] = []
  let cursor: string | undefined
  for (;;) {
    const from = cursor === undefined ? {} : { cursor }
    const read = await client.deployments.why(name, { ...query, ...from, limit: PAGE })
    if (!read.ok) return read
    const { groups: found = [], nextCursor, ...why } = read.value
    candidates.push(...why.candidates)
    const last = groups.at(-1)
    const [first, ...others] = found
    if (first !== undefined && last !== undefined && last.nodes.length < last.count)
      groups.splice(-1, 1, { ...last, nodes: [...last.nodes, ...first.nodes] }, ...others)
    else groups.push(...found)
    cursor = nextCursor ?? undefined
    if (cursor === undefined)
      return { ok: true, value: { ...why, candidates, ...(query.view === 'groups' ? { groups } : {}) } }
  }
}

const PAGE = 500
