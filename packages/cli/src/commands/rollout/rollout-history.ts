// `holdfast rollout history`: lists the stored revisions of a deployment, or prints one revision as a manifest.

import type { ArchiveEntry, JsonObject } from '@holdfast/contract'
import { DEPLOYMENT_ARGUMENT, deploymentName } from '../../args/deployment-argument.ts'
import { POSITIVE_NUMBER } from '../../args/forms.ts'
import type { OnlineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { age } from '../../print/age.ts'
import { shortImage } from '../../print/amounts.ts'
import { printFailure } from '../../print/failure.ts'
import { OUTPUT_OPTION, type Printed, printItems, yamlText } from '../../print/output.ts'
import { print } from '../../terminal/terminal.ts'

export const rolloutHistory: OnlineCommand = {
  name: 'rollout history',
  aliases: ['history'],
  summary: 'list the stored revisions of a deployment, or show one',
  args: [DEPLOYMENT_ARGUMENT],
  options: [
    { flags: '--revision <number>', summary: 'print the manifest of one revision', form: POSITIVE_NUMBER },
    OUTPUT_OPTION,
  ],
  examples: [
    ['holdfast rollout history web', 'Lists each revision with the fields it changed.'],
    ['holdfast rollout history web --revision 3', 'Prints revision 3 as a manifest.'],
  ],
  online: true,
  async run({ terminal, args: [typed], text }, client) {
    const name = deploymentName(typed)
    const revision = text('revision')
    if (revision !== undefined) {
      const read = await client.deployments.archivedRevision(name, Number(revision))
      if (!read.ok) return printFailure(terminal, read.failure)
      if (text('output') === 'json') print(terminal, JSON.stringify(read.value.spec, null, 2))
      else terminal.out(await yamlText(read.value.spec))
      return EXIT.ok
    }
    const { readAll } = await import('@holdfast/client')
    const listed = await readAll((page) => client.deployments.archived(name, page))
    if (!listed.ok) return printFailure(terminal, listed.failure)
    await printItems(terminal, text('output'), revisionsOf(listed.value), listed.value)
    return EXIT.ok
  },
}

function revisionsOf(entries: readonly ArchiveEntry[]): Printed<ArchiveEntry> {
  const before = new Map(entries.map((entry, at) => [entry, entries[at - 1]]))
  return {
    kind: 'revision',
    nameOf: ({ revision }) => String(revision),
    columns: [
      { header: 'REVISION', value: ({ revision }) => String(revision) },
      { header: 'AGE', value: ({ createdAt }, nowMs) => age(createdAt, nowMs) },
      { header: 'IMAGE', value: ({ spec }) => spec.image, short: ({ spec }) => shortImage(spec.image) },
      { header: 'CHANGED', value: (entry) => changedFields(before.get(entry), entry).join(', ') },
      { header: 'AUTHOR', value: ({ author, authorName = author }) => authorName },
      { header: 'TOKEN', wide: true, value: ({ author }) => author },
      { header: 'DIGEST', wide: true, value: ({ digest = '' }) => digest },
    ],
  }
}

function changedFields(before: ArchiveEntry | undefined, { spec }: ArchiveEntry): string[] {
  if (before === undefined) return []
  const was: JsonObject = { ...before.spec }
  const is: JsonObject = { ...spec }
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(
    (field) => textOf(was[field]) !== textOf(is[field]),
  )
}

/** A value as JSON text. Equal values give equal texts, because the platform stores keys in a fixed order. */
const textOf = (value: JsonObject[string] | undefined): string => JSON.stringify(value ?? null)
