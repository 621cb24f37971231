// What would happen: the plan of the platform for each document, as a summary, as the difference it makes, or as data.

import type { Client } from '@holdfast/client'
import type { DryRun } from '@holdfast/contract'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { nameOf } from './manifest/load-manifests.ts'
import type { Manifest } from './manifest/parse-source.ts'
import { type Planned, planDocument } from './manifest/write-document.ts'
import { printKept, printRefused } from './print/applied.ts'
import { indented, outArea } from './print/area.ts'
import { printAnnounced } from './print/changes.ts'
import { paint } from './print/color.ts'
import { matrixLines } from './print/matrix.ts'
import { yamlText } from './print/output.ts'
import { plain, plainLines } from './print/plain.ts'
import { indent } from './print/sections.ts'
import { hang } from './print/table.ts'
import { print, type Terminal } from './terminal/terminal.ts'

const VERBS = { create: 'would be created', update: 'would be configured', none: 'unchanged' } as const

export type PlanForm = 'summary' | 'difference' | 'json' | 'yaml'

export interface PlannedAll {
  /** Of the first that went wrong. */
  readonly exitCode: ExitCode
  /** Whether applying would change anything. */
  readonly differs: boolean
}

export async function planAll(
  terminal: Terminal,
  client: Client,
  manifests: readonly Manifest[],
  form: PlanForm,
): Promise<PlannedAll> {
  let exitCode: ExitCode = EXIT.ok
  const items: ({ readonly name: string } & DryRun)[] = []
  for (const manifest of manifests) {
    const planned = await planDocument(client, manifest.value)
    if (!planned.ok) {
      const code = printRefused(terminal, manifest, planned.failure)
      exitCode = exitCode === EXIT.ok ? code : exitCode
      if (planned.failure.kind !== 'rejected') break
      continue
    }
    items.push({ name: nameOf(manifest.value) ?? '', ...planned.plan })
    if (form === 'summary' || form === 'difference') await printPlan(terminal, manifest, planned, form)
  }
  if (form === 'json') print(terminal, JSON.stringify({ items }, null, 2))
  if (form === 'yaml') terminal.out(await yamlText({ items }))
  return { exitCode, differs: items.some(({ plan }) => plan.action !== 'none') }
}

async function printPlan(
  terminal: Terminal,
  manifest: Manifest,
  { plan: whole, before }: Planned & { readonly ok: true },
  form: 'summary' | 'difference',
): Promise<void> {
  print(terminal, `deployment/${nameOf(manifest.value)} ${VERBS[whole.plan.action]}`)
  if (form === 'difference') await printDifference(terminal, manifest, whole)
  printAnnounced(terminal, whole)
  printKept(terminal, manifest, before)
  if (whole.plan.action !== 'none') printConsequences(terminal, whole.plan)
}

/** A new deployment differs by all that it has. */
async function printDifference(terminal: Terminal, { value }: Manifest, { plan }: DryRun): Promise<void> {
  const colored = terminal.color && terminal.outIsTerminal
  const put = async (sign: '+' | '-', part: unknown): Promise<void> => {
    for (const line of plainLines(await yamlText(part))
      .trimEnd()
      .split('\n'))
      print(terminal, paint(`${sign} ${line}`, sign === '+' ? 'green' : 'red', colored))
  }
  if (plan.action === 'create') await put('+', value)
  for (const { field, from, to } of plan.changes) {
    if (from !== null) await put('-', { [field]: from })
    if (to !== null) await put('+', { [field]: to })
  }
}

function printConsequences(terminal: Terminal, { placement, steps, rollout }: DryRun['plan']): void {
  const { unplaced } = placement
  for (const { kind, text } of steps) {
    // What the matrix below says in full.
    if (kind === 'wait' && unplaced > 0) continue
    for (const line of hang('  ', plain(text), outArea(terminal).columns)) print(terminal, line)
  }
  if (rollout !== undefined && steps.length > 0) print(terminal, plain(`  ${rollout.summary}`))
  if (unplaced === 0) return
  print(terminal, `  without a node: ${unplaced}`)
  print(terminal, plain(`  ${placement.summary}`))
  for (const line of indent(matrixLines(placement, indented(outArea(terminal), 2)))) print(terminal, line)
}
