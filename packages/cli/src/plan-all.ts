// Prints the platform's dry-run plan of each document, its effects first: as a summary, as a diff, or as data.

import type { Client } from '@holdfast/client'
import type { DryRun, DryRunDocument } from '@holdfast/contract'
import type { Manifest } from '@holdfast/manifest'
import type { Invocation } from './command.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { type PlannedJobItem, planJobDocument } from './jobs/plan-document.ts'
import { checkTogether, dryRunTogether, failureOf, isJudgedTogether } from './judge-all.ts'
import { nameOf } from './manifest/load-manifests.ts'
import { readBefore } from './manifest/write-document.ts'
import { type PlannedNetworkItem, planNetworkDocument } from './networks/plan-document.ts'
import { printKept, printRefused } from './print/applied.ts'
import { indented, outArea } from './print/area.ts'
import { namedSecrets, printAnnounced, printLabeled } from './print/changes.ts'
import { differenceLines, signedLines } from './print/difference.ts'
import { printEffects, printSteps } from './print/effects.ts'
import { printFailure } from './print/failure.ts'
import { matrixLines } from './print/matrix.ts'
import { yamlText } from './print/output.ts'
import { plain } from './print/plain.ts'
import { indent } from './print/sections.ts'
import { print, type Terminal } from './terminal/terminal.ts'
import { type PlannedVolumeItem, planVolumeDocument } from './volumes/plan-document.ts'
import { prepareAll } from './volumes/prepare.ts'
import type { Prepared } from './volumes/prepared.ts'

const VERBS = { create: 'would be created', update: 'would be configured', none: 'unchanged' } as const

export type PlanForm = 'summary' | 'difference' | 'json' | 'yaml'

export interface PlannedAll {
  /** The exit code of the first document that failed. */
  readonly exitCode: ExitCode
  /** Whether applying the documents would change any deployment, volume or network, or create a job. */
  readonly differs: boolean
}

/** Plans all documents in one request, so that each is judged as if those that it needs were stored and ready. */
export async function planAll(
  { terminal, flag }: Invocation,
  client: Client,
  manifests: readonly Manifest[],
  form: PlanForm,
): Promise<PlannedAll> {
  const unusable = checkTogether(terminal, manifests)
  if (unusable !== EXIT.ok) return { exitCode: unusable, differs: false }
  const prepared = await prepareAll(client, manifests)
  if (!prepared.ok) return { exitCode: printFailure(terminal, prepared.failure), differs: false }
  const together = prepared.documents.filter(isJudgedTogether)
  const judged = await dryRunTogether(client, together)
  if (!judged.ok) return { exitCode: printFailure(terminal, judged.failure), differs: false }
  let exitCode: ExitCode = EXIT.ok
  const items: (PlannedDocument | PlannedVolumeItem | PlannedNetworkItem | PlannedJobItem)[] = []
  const options = { form, verbose: flag('verbose') }
  for (const document of prepared.documents) {
    const item = judged.value[together.indexOf(document)]
    const planned = await planDocument(terminal, client, document, item, options)
    if (typeof planned !== 'number') items.push(planned)
    else exitCode = exitCode === EXIT.ok ? planned : exitCode
  }
  if (form === 'json') print(terminal, JSON.stringify({ items }, null, 2))
  if (form === 'yaml') terminal.out(await yamlText({ items }))
  return { exitCode, differs: items.some(({ plan }) => plan.action !== 'none') }
}

function planDocument(
  terminal: Terminal,
  client: Client,
  document: Prepared,
  item: DryRunDocument | undefined,
  options: PlanOptions,
) {
  if (document.kind === 'Deployment') return planDeployment(terminal, client, document, item, options)
  if (document.kind === 'Job') return planJobDocument(terminal, document, item, options)
  return document.kind === 'Network'
    ? planNetworkDocument(terminal, client, document, options.form)
    : planVolumeDocument(terminal, client, document, options.form)
}

interface PlanOptions {
  readonly form: PlanForm
  readonly verbose: boolean
}

/** Prints the plan of a deployment, or its faults, of which the exit code is returned. */
async function planDeployment(
  terminal: Terminal,
  client: Client,
  { manifest, awaits, faults }: Prepared,
  item: DryRunDocument | undefined,
  options: PlanOptions,
): Promise<PlannedDocument | ExitCode> {
  const { name = '', alterations = [], warnings = [], plan, rejections = [] } = item ?? {}
  const all = [...faults, ...rejections]
  if (plan === undefined || all.length > 0) return printRefused(terminal, manifest, failureOf(all))
  const planned = { name, alterations, warnings, plan }
  if (options.form !== 'summary' && options.form !== 'difference') return planned
  await printPlan(terminal, client, manifest, planned, options)
  for (const volume of awaits)
    printLabeled(
      terminal,
      'note',
      'yellow',
      `the mount of volume ${volume} is left out of this plan: the platform judges it when the volume is Ready`,
    )
  return planned
}

type PlannedDocument = { readonly name: string } & DryRun

async function printPlan(
  terminal: Terminal,
  client: Client,
  manifest: Manifest,
  dryRun: PlannedDocument,
  { form, verbose }: PlanOptions,
): Promise<void> {
  print(terminal, `deployment/${nameOf(manifest.value)} ${VERBS[dryRun.plan.action]}`)
  if (form === 'difference') await printDifference(terminal, manifest, dryRun)
  const alterations = verbose || dryRun.plan.action !== 'none' ? dryRun.alterations : []
  const secrets = namedSecrets(manifest.value)
  printAnnounced(terminal, { alterations, warnings: dryRun.warnings }, { verbose, secrets })
  const before = dryRun.plan.action === 'create' ? undefined : await readBefore(client, manifest.value)
  printKept(terminal, manifest, before?.ok ? before.value : undefined)
  if (dryRun.plan.action !== 'none') printConsequences(terminal, dryRun)
}

/** Prints the changed fields of a deployment. All fields of a new deployment are printed. */
async function printDifference(terminal: Terminal, { value }: Manifest, { plan }: DryRun): Promise<void> {
  const { colored } = outArea(terminal)
  const created = plan.action === 'create' ? await signedLines('+', value, { colored }) : []
  for (const line of [...created, ...(await differenceLines(plan.changes, { colored }))])
    print(terminal, line)
}

function printConsequences(terminal: Terminal, { name, plan }: PlannedDocument): void {
  const { placement, steps, rollout, effects } = plan
  const { unplaced } = placement
  printEffects(terminal, effects)
  // A step that waits for a node is left out: the placement matrix, printed after the steps, explains the reasons in full.
  printSteps(
    terminal,
    steps.filter(({ kind, deployment }) => !(kind === 'wait' && deployment === name && unplaced > 0)),
    name,
  )
  if (rollout !== undefined && steps.length > 0) print(terminal, plain(`  ${rollout.summary}`))
  if (unplaced === 0) return
  print(terminal, `  replicas without a node: ${unplaced}`)
  print(terminal, plain(`  ${placement.summary}`))
  for (const line of indent(matrixLines(placement, indented(outArea(terminal), 2)))) print(terminal, line)
}
