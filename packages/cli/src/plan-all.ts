// Prints the platform's dry-run plan of each document, its effects first: as a summary, as a diff, or as data.

import type { Client } from '@holdfast/client'
import { type DryRun, isJsonObject } from '@holdfast/contract'
import type { Manifest } from '@holdfast/manifest'
import type { Invocation } from './command.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { checkTogether, failureOf } from './judge-all.ts'
import { nameOf } from './manifest/load-manifests.ts'
import { readBefore } from './manifest/write-document.ts'
import { printKept, printRefused } from './print/applied.ts'
import { indented, outArea } from './print/area.ts'
import { type NamedSecrets, printAnnounced } from './print/changes.ts'
import { differenceLines, signedLines } from './print/difference.ts'
import { printEffects, printSteps } from './print/effects.ts'
import { printFailure } from './print/failure.ts'
import { matrixLines } from './print/matrix.ts'
import { yamlText } from './print/output.ts'
import { plain } from './print/plain.ts'
import { indent } from './print/sections.ts'
import { print, type Terminal } from './terminal/terminal.ts'

const VERBS = { create: 'would be created', update: 'would be configured', none: 'unchanged' } as const

export type PlanForm = 'summary' | 'difference' | 'json' | 'yaml'

export interface PlannedAll {
  /** The exit code of the first document that failed. */
  readonly exitCode: ExitCode
  /** Whether applying the documents would change any deployment. */
  readonly differs: boolean
}

/** Plans all documents in one request, so that each is judged as if those that it needs were stored and ready. */
export async function planAll(
  { terminal, flag }: Invocation,
  client: Client,
  manifests: readonly Manifest[],
  form: PlanForm,
): Promise<PlannedAll> {
  const together = checkTogether(terminal, manifests)
  if (together !== EXIT.ok) return { exitCode: together, differs: false }
  const judged = await client.dryRuns.documents(manifests.map(({ value }) => value))
  if (!judged.ok) return { exitCode: printFailure(terminal, judged.failure), differs: false }
  let exitCode: ExitCode = EXIT.ok
  const items: PlannedDocument[] = []
  for (const [at, manifest] of manifests.entries()) {
    const { name = '', alterations = [], warnings = [], plan, rejections = [] } = judged.value.items[at] ?? {}
    if (plan === undefined) {
      const code = printRefused(terminal, manifest, failureOf(rejections))
      exitCode = exitCode === EXIT.ok ? code : exitCode
      continue
    }
    const planned = { name, alterations, warnings, plan }
    items.push(planned)
    if (form === 'summary' || form === 'difference')
      await printPlan(terminal, client, manifest, planned, { form, verbose: flag('verbose') })
  }
  if (form === 'json') print(terminal, JSON.stringify({ items }, null, 2))
  if (form === 'yaml') terminal.out(await yamlText({ items }))
  return { exitCode, differs: items.some(({ plan }) => plan.action !== 'none') }
}

type PlannedDocument = { readonly name: string } & DryRun

async function printPlan(
  terminal: Terminal,
  client: Client,
  manifest: Manifest,
  dryRun: PlannedDocument,
  { form, verbose }: { readonly form: PlanForm; readonly verbose: boolean },
): Promise<void> {
  print(terminal, `deployment/${nameOf(manifest.value)} ${VERBS[dryRun.plan.action]}`)
  if (form === 'difference') await printDifference(terminal, manifest, dryRun)
  const alterations = verbose || dryRun.plan.action !== 'none' ? dryRun.alterations : []
  const secrets = secretsOf(manifest)
  printAnnounced(terminal, { alterations, warnings: dryRun.warnings }, { verbose, secrets })
  const before = dryRun.plan.action === 'create' ? undefined : await readBefore(client, manifest.value)
  printKept(terminal, manifest, before?.ok ? before.value : undefined)
  if (dryRun.plan.action !== 'none') printConsequences(terminal, dryRun)
}

/** The secrets that a manifest mentions, if it mentions them in the accepted form. */
function secretsOf({ value }: Manifest): NamedSecrets {
  const sent = isJsonObject(value) && Array.isArray(value.secrets) ? value.secrets : []
  return sent.map((entry) => {
    const { name = '', vault_path = '' } = isJsonObject(entry) ? entry : {}
    return { name: String(name), vault_path: String(vault_path) }
  })
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
