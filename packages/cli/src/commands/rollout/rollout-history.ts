// `holdfast rollout history`: lists the stored revisions of a deployment, or prints one revision as a manifest, with the
// fields that it changed as comments.

import type { Client } from '@holdfast/client'
import type { ArchiveEntry } from '@holdfast/contract'
import { DEPLOYMENT_ARGUMENT, deploymentName } from '../../args/deployment-argument.ts'
import { POSITIVE_NUMBER } from '../../args/forms.ts'
import type { Invocation, OnlineCommand } from '../../command.ts'
import { EXIT, type ExitCode } from '../../exit-codes.ts'
import { age } from '../../print/age.ts'
import { shortImage } from '../../print/amounts.ts'
import { outArea } from '../../print/area.ts'
import { differenceLines, differencesOf } from '../../print/difference.ts'
import { printError, printFailure } from '../../print/failure.ts'
import { OUTPUT_OPTION, type Printed, printItems, yamlText } from '../../print/output.ts'
import { plain } from '../../print/plain.ts'
import { print } from '../../terminal/terminal.ts'

export const rolloutHistory: OnlineCommand = {
  name: 'rollout history',
  aliases: ['history'],
  summary: 'list the stored revisions of a deployment, or show what one changed',
  details:
    'One revision is printed as a manifest. Comments above it show the old and the new value of each field that it changed.',
  args: [
    DEPLOYMENT_ARGUMENT,
    { name: 'revision', summary: 'show one revision, like --revision', optional: true },
  ],
  options: [
    { flags: '--revision <number>', summary: 'show one revision', form: POSITIVE_NUMBER },
    OUTPUT_OPTION,
  ],
  examples: [
    ['holdfast rollout history web', 'Lists each revision with the fields it changed.'],
    ['holdfast rollout history web 3', 'Shows the changes of revision 3 and its manifest.'],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, args, text } = invocation
    const name = deploymentName(args[0])
    const revision = text('revision') ?? args[1]
    if (text('revision') !== undefined && args[1] !== undefined)
      return usageError(invocation, 'the revision is given twice')
    if (revision !== undefined && !POSITIVE_NUMBER.test(revision))
      return usageError(invocation, `"${revision}" is not ${POSITIVE_NUMBER.expected}`)
    if (revision !== undefined) return printRevision(invocation, client, name, Number(revision))
    const { readAll } = await import('@holdfast/client')
    const listed = await readAll((page) => client.deployments.archived(name, page))
    if (!listed.ok) return printFailure(terminal, listed.failure)
    await printItems(terminal, text('output'), revisionsOf(listed.value), listed.value)
    return EXIT.ok
  },
}

function usageError({ terminal, args }: Invocation, problem: string): ExitCode {
  printError(terminal, `${problem}, for example: holdfast history ${args[0]} 3`)
  return EXIT.usage
}

async function printRevision(
  { terminal, text }: Invocation,
  client: Client,
  name: string,
  revision: number,
): Promise<ExitCode> {
  const read = await client.deployments.archivedRevision(name, revision)
  if (!read.ok) return printFailure(terminal, read.failure)
  const output = text('output')
  if (output === 'json') {
    print(terminal, JSON.stringify(read.value.spec, null, 2))
    return EXIT.ok
  }
  const isData = output === 'yaml'
  const before = isData || revision === 1 ? undefined : await readBefore(client, name, revision - 1)
  const { colored } = outArea(terminal)
  if (!isData) for (const line of await changeComments(read.value, before, colored)) print(terminal, line)
  terminal.out(await yamlText(read.value.spec))
  return EXIT.ok
}

/** The revision before; undefined if the archive no longer has it. */
async function readBefore(client: Client, name: string, revision: number): Promise<ArchiveEntry | undefined> {
  const read = await client.deployments.archivedRevision(name, revision)
  return read.ok ? read.value : undefined
}

async function changeComments(
  { name, revision, createdAt, author, authorName = author, spec }: ArchiveEntry,
  before: ArchiveEntry | undefined,
  colored: boolean,
): Promise<string[]> {
  const head = `# revision ${revision} of ${plain(name)}, stored at ${createdAt} by ${plain(authorName)}`
  if (revision === 1) return [head]
  if (before === undefined)
    return [head, `# revision ${revision - 1} is unavailable, so the changes are unknown`]
  const differences = differencesOf({ ...before.spec }, { ...spec })
  if (differences.length === 0) return [head, `# the same manifest as revision ${before.revision}`]
  const lines = await differenceLines(differences, { colored, prefix: '# ' })
  return [head, `# changed since revision ${before.revision}:`, ...lines]
}

function revisionsOf(entries: readonly ArchiveEntry[]): Printed<ArchiveEntry> {
  const changes = new Map(entries.map((entry, at) => [entry, changeText(entries.slice(0, at), entry)]))
  return {
    kind: 'revision',
    nameOf: ({ revision }) => String(revision),
    columns: [
      { header: 'REVISION', value: ({ revision }) => String(revision) },
      { header: 'AGE', value: ({ createdAt }, nowMs) => age(createdAt, nowMs) },
      { header: 'IMAGE', value: ({ spec }) => spec.image, short: ({ spec }) => shortImage(spec.image) },
      { header: 'CHANGED', value: (entry) => changes.get(entry) ?? '' },
      { header: 'AUTHOR', value: ({ author, authorName = author }) => authorName },
      { header: 'TOKEN', wide: true, value: ({ author }) => author },
      { header: 'DIGEST', wide: true, value: ({ digest = '' }) => digest },
    ],
  }
}

/** The fields that a revision changed. A rollback stores an earlier manifest again, and its revision is named. */
function changeText(earlier: readonly ArchiveEntry[], { spec, specHash }: ArchiveEntry): string {
  const before = earlier.at(-1)
  if (before === undefined) return ''
  const fields = differencesOf({ ...before.spec }, { ...spec }).map(({ field }) => field)
  const same =
    before.specHash === specHash ? undefined : earlier.findLast((each) => each.specHash === specHash)
  return `${fields.join(', ')}${same === undefined ? '' : ` (as revision ${same.revision})`}`
}
