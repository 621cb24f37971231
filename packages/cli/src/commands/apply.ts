// `holdfast apply`: creates or updates deployments from manifest files.

import type { Client } from '@holdfast/client'
import type { Manifest } from '@holdfast/manifest'
import { DURATION, durationSeconds } from '../args/forms.ts'
import type { Invocation, OnlineCommand, OptionSpec } from '../command.ts'
import { DRY_RUN_OPTION } from '../dry-run.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import type { Awaited } from '../follow/wait-until-ready.ts'
import { FILENAME_OPTION } from '../manifest/read-sources.ts'
import type { Accepted, AppliedForm } from '../print/applied.ts'

export const waitOptions = (until = 'every replica is ready'): readonly OptionSpec[] => [
  { flags: '--wait', summary: `wait until ${until}; exit with 4 on failure or timeout` },
  { flags: '--wait-timeout <duration>', summary: 'timeout of --wait (default: 5m)', form: DURATION },
]

export const apply: OnlineCommand = {
  name: 'apply',
  summary: 'create or update deployments from manifests',
  details:
    'Documents are applied after those they depend on. Several documents are judged together first, and none is stored if one is rejected. A field that the manifest does not mention keeps its stored value; null clears it. If someone else changed the deployment in between, the command fails with exit code 6.',
  options: [
    FILENAME_OPTION,
    DRY_RUN_OPTION,
    ...waitOptions(),
    {
      flags: '-o, --output <form>',
      summary: 'print the stored deployments as JSON, or their names',
      choices: ['json', 'name'],
    },
    { flags: '-q, --quiet', summary: 'print only warnings, errors and the progress of --wait' },
  ],
  examples: [
    ['holdfast apply -f web.yaml', 'Creates or updates the deployments in the file.'],
    ['holdfast apply -f manifests/ --wait', 'Applies a folder and waits until all of it runs.'],
    ['holdfast apply -f manifests/ -o name', 'Prints the name of each applied deployment, for scripts.'],
    ['cat web.yaml | holdfast apply -f - --dry-run', 'Shows what would happen.'],
  ],
  online: true,
  async run(invocation, client) {
    const [{ loadManifests }, { orderDocuments }] = await Promise.all([
      import('../manifest/load-manifests.ts'),
      import('../manifest/order.ts'),
    ])
    const loaded = await loadManifests(invocation)
    if (!loaded.ok) return loaded.exitCode
    const ordered = orderDocuments(loaded.manifests)
    if (invocation.flag('dry-run')) {
      const { planAll } = await import('../plan-all.ts')
      return (await planAll(invocation, client, ordered, 'summary')).exitCode
    }
    const judged = ordered.length > 1 ? await judge(invocation, client, ordered) : EXIT.ok
    if (judged !== EXIT.ok) return judged
    const { applied, exitCode } = await applyAll(invocation, client, ordered)
    if (exitCode !== EXIT.ok || !invocation.flag('wait')) return exitCode
    const { waitUntilReady } = await import('../follow/wait-until-ready.ts')
    // The result of the wait must not mix with JSON or names on stdout.
    const { terminal } = invocation
    const waiting = formOf(invocation) === 'text' ? terminal : { ...terminal, out: terminal.err }
    return waitUntilReady(waiting, client, applied, waitMs(invocation))
  },
}

async function judge({ terminal }: Invocation, client: Client, manifests: readonly Manifest[]) {
  const { checkTogether, judgeAll } = await import('../judge-all.ts')
  const together = checkTogether(terminal, manifests)
  return together === EXIT.ok ? judgeAll(terminal, client, manifests) : together
}

function formOf({ text, flag }: Invocation): AppliedForm {
  const output = text('output')
  if (output === 'json' || output === 'name') return output
  return flag('quiet') ? 'quiet' : 'text'
}

const DEFAULT_WAIT_S = 300

export const waitMs = ({ text }: Pick<Invocation, 'text'>): number =>
  (durationSeconds(text('wait-timeout') ?? '') ?? DEFAULT_WAIT_S) * 1000

/** Applies the documents in turn and stops at the first that is rejected, because later ones may need it. */
async function applyAll(invocation: Invocation, client: Client, manifests: readonly Manifest[]) {
  const { terminal, flag } = invocation
  const { applyDocument } = await import('../manifest/write-document.ts')
  const { printApplied, printAppliedJson, printCounts, printRefused } = await import('../print/applied.ts')
  const form = formOf(invocation)
  const done: Accepted[] = []
  let exitCode: ExitCode = EXIT.ok
  for (const manifest of manifests) {
    const outcome = await applyDocument(client, manifest.value)
    if (!outcome.ok) {
      exitCode = printRefused(terminal, manifest, outcome.failure)
      break
    }
    printApplied(terminal, manifest, outcome, { form, verbose: flag('verbose') })
    done.push(outcome)
  }
  if (form === 'json') printAppliedJson(terminal, done)
  const left = manifests.length - done.length
  const missing = exitCode === EXIT.ok ? [] : ['failed', ...Array<string>(left - 1).fill('not applied')]
  if (form === 'text' && manifests.length > 1)
    printCounts(terminal, [...done.map(({ verb }) => verb), ...missing])
  const applied: Awaited[] = done.map(({ written: { deployment } }) => deployment)
  return { applied, exitCode }
}
