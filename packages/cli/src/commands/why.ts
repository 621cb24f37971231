// `holdfast why`: explains why a deployment does not run: the containers that fail, then its placement, node by node. Of a
// volume it explains where the primary or a missing copy could be.

import type { Client, PageQuery, Result } from '@holdfast/client'
import type { Candidate, NodeGroup, Why } from '@holdfast/contract'
import { deploymentName } from '../args/deployment-argument.ts'
import { POINT_IN_TIME, pointInTime } from '../args/forms.ts'
import { DEPLOYMENT_KINDS, LIVE_KINDS, VOLUME_KINDS } from '../args/resource-names.ts'
import type { OnlineCommand } from '../command.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { outArea, type PrintArea } from '../print/area.ts'
import { containerLines } from '../print/containers.ts'
import { printError, printFailure } from '../print/failure.ts'
import { wrapWords } from '../print/fit.ts'
import { matrixLines } from '../print/matrix.ts'
import { yamlText } from '../print/output.ts'
import { plain } from '../print/plain.ts'
import { scalingText } from '../print/scaling.ts'
import { PLACE_IT } from '../print/volume.ts'
import { print, type Terminal } from '../terminal/terminal.ts'

export const why: OnlineCommand = {
  name: 'why',
  summary:
    'explain why a deployment does not run: failing containers, every node, every reason, the remedies',
  details:
    'Of a volume: every node with every reason against the primary or a missing copy, and which copy continues if the primary dies.',
  args: [
    {
      name: 'deployment',
      summary: 'name of the deployment, or a kind: deployment or volume',
      completes: 'deployments',
    },
    {
      name: 'name',
      summary: 'name after a kind',
      optional: true,
      completes: ([kind = '']) => LIVE_KINDS[kind],
    },
  ],
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
    ['holdfast why volume data', 'Shows why a volume, or a copy of it, has no node.'],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, args, text } = invocation
    const { kind, name } = typedName(args)
    const at = text('at')
    if (VOLUME_KINDS.includes(kind)) {
      if (at !== undefined) {
        printError(terminal, 'earlier decisions about volumes are not kept; leave --at out')
        return EXIT.usage
      }
      return whyVolume(terminal, client, name, text('output'))
    }
    if (!DEPLOYMENT_KINDS.includes(kind)) {
      printError(terminal, `why explains deployments and volumes, not ${kind}`)
      return EXIT.usage
    }
    const time = at === undefined ? undefined : pointInTime(at, terminal.now())
    const view = isData(text('output')) ? 'candidates' : 'groups'
    const read = await readPages((page) => client.deployments.why(name, { at: time, view, ...page }))
    if (!read.ok) return printFailure(terminal, read.failure)
    await printWhy(terminal, text('output'), read.value, { name })
    return EXIT.ok
  },
}

const isData = (form: string | undefined): boolean => form === 'json' || form === 'yaml'

/** The kind and name of `why web`, `why volume data`, `why deployment/web` or `why volume/data`. */
function typedName([first = '', second]: readonly string[]): {
  readonly kind: string
  readonly name: string
} {
  if (second !== undefined) return { kind: first, name: second }
  const slash = first.indexOf('/')
  const kind = first.slice(0, Math.max(0, slash))
  return VOLUME_KINDS.includes(kind)
    ? { kind, name: first.slice(slash + 1) }
    : { kind: 'deployment', name: deploymentName(first) }
}

async function whyVolume(
  terminal: Terminal,
  client: Client,
  name: string,
  form: string | undefined,
): Promise<ExitCode> {
  const { findVolume } = await import('../resources/find-volume.ts')
  const found = await findVolume(client, name)
  const read = found.ok ? await readPages((page) => client.volumes.why(found.value.id, page)) : found
  if (!read.ok) return printFailure(terminal, read.failure)
  await printWhy(terminal, form, read.value, { name, goal: PLACE_IT })
  return EXIT.ok
}

async function printWhy(
  terminal: Terminal,
  form: string | undefined,
  why: Why,
  { name, ...goal }: { readonly name: string; readonly goal?: string },
): Promise<void> {
  if (form === 'json') return print(terminal, JSON.stringify(why, null, 2))
  if (form === 'yaml') return terminal.out(await yamlText(why))
  const { phase, decidedAt } = why
  print(terminal, plain(`${phase}${decidedAt === null ? '' : `, decided at ${decidedAt}`}`))
  const area = outArea(terminal)
  const failing = containerLines(why.containers ?? [], terminal.now(), area)
  const lines = [
    ...wrapWords(plain(why.summary), area.columns),
    ...(why.canary === undefined ? [] : wrapWords(plain(why.canary), area.columns)),
    ...(failing.length === 0 ? [] : ['', ...failing, ...nextStep(why, name), '']),
    ...matrixLines({ ...why, ...goal }, area),
    ...outlookLines(why, area),
    ...scalingLines(why, area),
  ]
  terminal.out(`${lines.join('\n')}\n`)
}

/** Of a volume: which copy continues if the primary dies, and why each of the others does not. */
function outlookLines({ ifPrimaryDies }: Why, { columns }: PrintArea): string[] {
  if (ifPrimaryDies === undefined) return []
  const { nodeId, message, copies } = ifPrimaryDies
  // Without a copy that continues, the sentence explains every copy.
  const others = nodeId === null ? [] : copies.filter((copy) => copy.nodeId !== nodeId)
  return ['', message, ...others.map((copy) => copy.message)].flatMap((line) =>
    wrapWords(plain(line), columns),
  )
}

/** Of a deployment with a scaling policy: what the policy wants, and why it does not act. */
const scalingLines = ({ scaling }: Why, { columns }: PrintArea): string[] =>
  scaling === undefined ? [] : ['', ...wrapWords(plain(`scaling ${scalingText(scaling)}`), columns)]

/** The command that prints the last output of a container that exited. */
const nextStep = ({ containers = [] }: Why, name: string): string[] =>
  containers.some(({ lastExit }) => lastExit !== undefined) ? [`next: holdfast logs ${name} --previous`] : []

/** Reads all pages of an explanation. A group that continues on the next page is one group here. */
async function readPages(readPage: (page: PageQuery) => Promise<Result<Why>>): Promise<Result<Why>> {
  const candidates: Candidate[] = []
  const groups: NodeGroup[] = []
  let cursor: string | undefined
  for (;;) {
    const read = await readPage({ ...(cursor === undefined ? {} : { cursor }), limit: PAGE })
    if (!read.ok) return read
    const { groups: found, nextCursor, ...why } = read.value
    candidates.push(...why.candidates)
    const last = groups.at(-1)
    const [first, ...others] = found ?? []
    if (first !== undefined && last !== undefined && last.nodes.length < last.count)
      groups.splice(-1, 1, { ...last, nodes: [...last.nodes, ...first.nodes] }, ...others)
    else groups.push(...(found ?? []))
    cursor = nextCursor ?? undefined
    if (cursor === undefined)
      return { ok: true, value: { ...why, candidates, ...(found === undefined ? {} : { groups }) } }
  }
}

const PAGE = 500
