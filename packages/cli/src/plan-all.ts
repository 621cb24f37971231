// Prints the platform's dry-run plan of each document: as a summary, as a diff, or as data.

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
  /** The exit code of the first document that failed. */
  readonly exitCode: ExitCode
  /** Whether applying the documents would change any deployment. */
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
  { plan: dryRun, before }: Planned & { readonly ok: true },
  form: 'summary' | 'difference',
): Promise<void> {
  print(terminal, `deployment/${nameOf(manifest.value)} ${VERBS[dryRun.plan.action]}`)
  if (form === 'difference') await printDifference(terminal, manifest, dryRun)
  printAnnounced(terminal, dryRun)
  printKept(terminal, manifest, before)
  if (dryRun.plan.action !== 'none') printConsequences(terminal, dryRun.plan)
}

/** Prints the changed fields of a deployment. All fields of a new deployment are printed. */
async function printDifference(terminal: Terminal, { value }: Manifest, { plan }: DryRun): Promise<void> {
  const colored = terminal.color && terminal.outIsTerminal
  const printPart = async (sign: '+' | '-', part: unknown): Promise<void> => {
    for (const line of plainLines(await yamlText(part))
      .trimEnd()
      .split('\n'))
      print(terminal, paint(`${sign} ${line}`, sign === '+' ? 'green' : 'red', colored))
  }
  if (plan.action === 'create') await printPart('+', value)
  for (const { field, from, to } of plan.changes) {
    if (from !== null) await printPart('-', { [field]: from })
    if (to !== null) await printPart('+', { [field]: to })
  }
}

function printConsequences(terminal: Terminal, { placement, steps, rollout }: DryRun['plan']): void {
  const { unplaced } = placement
  for (const { kind, text } of steps) {
    // A wait for a node is not printed as a step, because the placement matrix below the steps explains it in full.
    if (kind === 'wait' && unplaced > 0) continue
    for (const line of hang('  ', plain(text), outArea(terminal).columns)) print(terminal, line)
  }
  if (rollout !== undefined && steps.length > 0) print(terminal, plain(`  ${rollout.summary}`))
  if (unplaced === 0) return
  print(terminal, `  replicas without a node: ${unplaced}`)
  print(terminal, plain(`  ${placement.summary}`))
  for (const line of indent(matrixLines(placement, indented(outArea(terminal), 2)))) print(terminal, line)
}
