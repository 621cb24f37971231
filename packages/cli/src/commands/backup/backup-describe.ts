// `holdfast backup describe`: the manifest and the revisions that a backup contains.

import type { ArchiveEntry, BackupRecord } from '@holdfast/contract'
import { BACKUP_ARGUMENT, backupId } from '../../args/backup-argument.ts'
import type { OnlineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { age } from '../../print/age.ts'
import { memory, shortImage } from '../../print/amounts.ts'
import { indented, outArea } from '../../print/area.ts'
import { printFailure } from '../../print/failure.ts'
import { printItems, yamlText } from '../../print/output.ts'
import { plain } from '../../print/plain.ts'
import { factLines, section } from '../../print/sections.ts'
import { type Column, tableLines } from '../../print/table.ts'

export const backupDescribe: OnlineCommand = {
  name: 'backup describe',
  summary: 'show the manifest and the revisions that a backup contains',
  args: [BACKUP_ARGUMENT],
  options: [
    { flags: '-o, --output <form>', summary: 'print the whole backup', choices: ['json', 'yaml', 'name'] },
  ],
  examples: [
    ['holdfast backup describe bak_01JD7QAF7T1B3V9W5Y8Z2A4C6D', 'Shows what a restore would store.'],
    ['holdfast backup describe bak_01JD7QAF7T1B3V9W5Y8Z2A4C6D -o json', 'Prints it with all revisions.'],
  ],
  online: true,
  async run({ terminal, args, text }, client) {
    const read = await client.backups.read(backupId(args[0]))
    if (!read.ok) return printFailure(terminal, read.failure)
    const form = text('output')
    if (form !== undefined) {
      const { backups } = await import('../../resources/backups.ts')
      await printItems(terminal, form, backups, [read.value], true)
      return EXIT.ok
    }
    const area = outArea(terminal)
    const nowMs = terminal.now()
    const { revisions, spec } = read.value
    const manifest = (await yamlText(spec)).trimEnd().split('\n').map(plain)
    const rows = tableLines(REVISION_COLUMNS, revisions, { nowMs, ...indented(area, 2) })
    const lines = [
      ...factLines(factsOf(read.value, nowMs), area),
      ...section('Revisions', revisions.length === 0 ? [] : rows, area),
      ...section('Manifest', manifest, area),
    ]
    terminal.out(`${lines.join('\n')}\n`)
    return EXIT.ok
  },
}

const REVISION_COLUMNS: readonly Column<ArchiveEntry>[] = [
  { header: 'REVISION', value: ({ revision }) => String(revision) },
  { header: 'AGE', value: ({ createdAt }, nowMs) => age(createdAt, nowMs) },
  { header: 'IMAGE', value: ({ spec }) => spec.image, short: ({ spec }) => shortImage(spec.image) },
  { header: 'AUTHOR', drop: 1, value: ({ author, authorName = author }) => authorName },
]

function factsOf(backup: BackupRecord, nowMs: number): [name: string, value: string][] {
  const { id, deploymentName, deploymentRevision, createdAt, sizeBytes, digest = '' } = backup
  const { revisionsOmitted } = backup
  return [
    ['Id', id],
    ['Deployment', deploymentName],
    ['Revision', String(deploymentRevision)],
    ['Digest', digest],
    ['Created', `${createdAt} (${age(createdAt, nowMs)} ago)`],
    ['Size', memory(sizeBytes)],
    ['Left out', revisionsOmitted === 0 ? '' : `${revisionsOmitted} older revisions, for their size`],
  ]
}
