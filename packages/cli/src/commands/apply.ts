// `holdfast apply`: creates or updates deployments from manifest files.

import type { Client } from '@holdfast/client'
import { DURATION, durationSeconds } from '../args/forms.ts'
import type { Invocation, OnlineCommand, OptionSpec } from '../command.ts'
import { DRY_RUN_OPTION } from '../dry-run.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import type { Awaited } from '../follow/wait-until-ready.ts'
import type { Manifest } from '../manifest/parse-source.ts'
import { FILENAME_OPTION } from '../manifest/read-sources.ts'

export const waitOptions = (until = 'every replica is ready'): readonly OptionSpec[] => [
  { flags: '--wait', summary: `wait until ${until}; exit with 4 on failure or timeout` },
  { flags: '--wait-timeout <duration>', summary: 'timeout of --wait (default: 5m)', form: DURATION },
]

export const apply: OnlineCommand = {
  name: 'apply',
  summary: 'create or update deployments from manifests',
  details:
    'Documents are applied after those they depend on. A field that the manifest does not mention keeps its stored value; null clears it. If someone else changed the deployment in between, the command fails with exit code 6.',
  options: [FILENAME_OPTION, DRY_RUN_OPTION, ...waitOptions()],
  examples: [
    ['holdfast apply -f web.yaml', 'Creates or updates the deployments in the file.'],
    ['holdfast apply -f manifests/ --wait', 'Applies a folder and waits until all of it runs.'],
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
      return (await planAll(invocation.terminal, client, ordered, 'summary')).exitCode
    }
    const { applied, exitCode } = await applyAll(invocation, client, ordered)
    if (exitCode !== EXIT.ok || !invocation.flag('wait')) return exitCode
    const { waitUntilReady } = await import('../follow/wait-until-ready.ts')
    return waitUntilReady(invocation.terminal, client, applied, waitMs(invocation))
  },
}

const DEFAULT_WAIT_S = 300

export const waitMs = ({ text }: Pick<Invocation, 'text'>): number =>
  (durationSeconds(text('wait-timeout') ?? '') ?? DEFAULT_WAIT_S) * 1000

/** Applies all documents. A rejected document does not stop the command; an unreachable platform does. */
async function applyAll({ terminal }: Invocation, client: Client, manifests: readonly Manifest[]) {
  const { applyDocument } = await import('../manifest/write-document.ts')
  const { printApplied, printRefused } = await import('../print/applied.ts')
  const applied: Awaited[] = []
  let exitCode: ExitCode = EXIT.ok
  for (const manifest of manifests) {
    const outcome = await applyDocument(client, manifest.value)
    if (outcome.ok) {
      printApplied(terminal, manifest, outcome)
      const { name, revision } = outcome.written.deployment
      applied.push({ name, revision })
      continue
    }
    const code = printRefused(terminal, manifest, outcome.failure)
    exitCode = exitCode === EXIT.ok ? code : exitCode
    if (outcome.failure.kind !== 'rejected' || code === EXIT.unreachable) break
  }
  return { applied, exitCode }
}
