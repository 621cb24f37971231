// `holdfast apply`: creates or updates deployments, volumes and networks from manifest files, and creates jobs.

import type { Client } from '@holdfast/client'
import type { JobRecord, Network, Volume } from '@holdfast/contract'
import { DURATION, durationSeconds } from '../args/forms.ts'
import type { Invocation, OnlineCommand, OptionSpec } from '../command.ts'
import { DRY_RUN_OPTION } from '../dry-run.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import type { Awaited } from '../follow/wait-until-ready.ts'
import { FILENAME_OPTION } from '../manifest/read-sources.ts'
import type { AnyAccepted, AppliedForm } from '../print/applied.ts'
import { printFailure } from '../print/failure.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { NotApplied } from '../volumes/apply-prepared.ts'
import type { PreparedAll } from '../volumes/prepare.ts'
import type { Prepared } from '../volumes/prepared.ts'

export const waitOptions = (until = 'every replica is ready'): readonly OptionSpec[] => [
  { flags: '--wait', summary: `wait until ${until}; exit with 4 on failure or timeout` },
  { flags: '--wait-timeout <duration>', summary: 'timeout of --wait (default: 5m)', form: DURATION },
]

export const apply: OnlineCommand = {
  name: 'apply',
  summary: 'create or update deployments, volumes and networks from manifests, and create jobs',
  details:
    'Documents are applied after those they depend on. Several documents are judged together first, and none is stored if one is rejected. A deployment that mounts a volume is sent when the volume is Ready, for which the command waits up to --wait-timeout. A field that the manifest does not mention keeps its stored value; null clears it. If someone else changed the deployment in between, the command fails with exit code 6.\n\nJobs are created last. The name of a job does not identify it, so every call creates another job of each document with kind: Job, also if the document is unchanged. --wait also waits until the jobs have succeeded.',
  options: [
    FILENAME_OPTION,
    DRY_RUN_OPTION,
    ...waitOptions(),
    {
      flags: '-o, --output <form>',
      summary: 'print what was stored as JSON, or the names',
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
    const { prepareAll } = await import('../volumes/prepare.ts')
    const prepared = await prepareAll(client, ordered)
    if (!prepared.ok) return printFailure(invocation.terminal, prepared.failure)
    const judged = await judge(invocation, client, prepared.documents)
    if (judged !== EXIT.ok) return judged
    const { exitCode, ...parts } = await applyAll(invocation, client, prepared)
    if (exitCode !== EXIT.ok || !invocation.flag('wait')) return exitCode
    // The result of the wait must not mix with JSON or names on stdout.
    const { terminal } = invocation
    const waiting = formOf(invocation) === 'text' ? terminal : { ...terminal, out: terminal.err }
    return waitForAll(waiting, client, parts, waitMs(invocation))
  },
}

/** One document without faults is judged by its write. */
async function judge({ terminal }: Invocation, client: Client, documents: readonly Prepared[]) {
  if (documents.length < 2 && documents.every(({ faults }) => faults.length === 0)) return EXIT.ok
  const { checkTogether, judgeAll } = await import('../judge-all.ts')
  const together = checkTogether(
    terminal,
    documents.map(({ manifest }) => manifest),
  )
  return together === EXIT.ok ? judgeAll(terminal, client, documents) : together
}

interface AppliedParts {
  readonly applied: readonly Awaited[]
  readonly volumes: readonly Volume[]
  readonly networks: readonly Network[]
  readonly jobs: readonly JobRecord[]
}

async function waitForAll(
  terminal: Terminal,
  client: Client,
  { applied, volumes, networks, jobs }: AppliedParts,
  longestMs: number,
): Promise<ExitCode> {
  const end = terminal.now() + longestMs
  for (const network of networks) {
    const { waitForNetwork } = await import('../follow/wait-for-networks.ts')
    const options = { longestMs: Math.max(0, end - terminal.now()), announce: true }
    const exitCode = await waitForNetwork(terminal, client, network, options)
    if (exitCode !== EXIT.ok) return exitCode
  }
  if (volumes.length > 0) {
    const { waitForVolumes } = await import('../follow/wait-for-volumes.ts')
    const exitCode = await waitForVolumes(terminal, client, volumes, { longestMs, announce: true })
    if (exitCode !== EXIT.ok) return exitCode
  }
  if (applied.length > 0) {
    const { waitUntilReady } = await import('../follow/wait-until-ready.ts')
    const exitCode = await waitUntilReady(terminal, client, applied, Math.max(0, end - terminal.now()))
    if (exitCode !== EXIT.ok) return exitCode
  }
  if (jobs.length === 0) return EXIT.ok
  const { waitForJobs } = await import('../follow/wait-for-jobs.ts')
  const ended = await waitForJobs(terminal, client, jobs, Math.max(0, end - terminal.now()))
  if (typeof ended === 'number') return ended
  return ended.every(({ status }) => status.phase === 'succeeded') ? EXIT.ok : EXIT.notReady
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
async function applyAll(
  invocation: Invocation,
  client: Client,
  { documents, volumes: known }: PreparedAll & { readonly ok: true },
) {
  const { terminal } = invocation
  const { applyPrepared } = await import('../volumes/apply-prepared.ts')
  const { printAppliedJson, printCounts } = await import('../print/applied.ts')
  const form = formOf(invocation)
  const options = { form, verbose: invocation.flag('verbose'), longestMs: waitMs(invocation) }
  const done: AnyAccepted[] = []
  let ended: NotApplied | undefined
  for (const document of documents) {
    const outcome = await applyPrepared(terminal, client, document, known, options)
    if ('exitCode' in outcome) {
      ended = outcome
      break
    }
    done.push(outcome)
  }
  if (form === 'json') printAppliedJson(terminal, done)
  const left = documents.length - done.length
  const failed = ended?.isRejected === true ? ['failed'] : []
  const missing = [...failed, ...Array<string>(left - failed.length).fill('not applied')]
  if (form === 'text' && documents.length > 1)
    printCounts(terminal, [...done.map(({ verb }) => verb), ...missing])
  const applied: Awaited[] = done.flatMap((each) => ('written' in each ? each.written.deployment : []))
  const volumes = done.flatMap((each) => ('volume' in each ? each.volume : []))
  const networks = done.flatMap((each) => ('network' in each ? each.network : []))
  const jobs = done.flatMap((each) => ('job' in each ? each.job : []))
  return { applied, volumes, networks, jobs, exitCode: ended?.exitCode ?? EXIT.ok }
}
