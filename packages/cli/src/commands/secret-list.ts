// Which secrets there are; never what they hold.

import type { SecretReference, SecretSummary } from '@holdfast/contract'
import type { OnlineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { age } from '../print/age.ts'
import { printFailure } from '../print/failure.ts'
import { OUTPUT_OPTION, type Printed, printItems } from '../print/output.ts'

const SECRETS: Printed<SecretSummary> = {
  kind: 'secret',
  begin: 'holdfast secret set <path> writes one',
  nameOf: ({ path }) => path,
  columns: [
    { header: 'PATH', value: ({ path }) => path },
    { header: 'NEWEST', value: ({ versions }) => String(versions.at(-1)?.version ?? '') },
    { header: 'AGE', value: ({ versions }, nowMs) => age(versions.at(-1)?.createdAt, nowMs) },
    { header: 'CONSUMERS', value: ({ consumers }) => consumers.join(', ') },
    { header: 'VERSIONS', wide: true, value: ({ versions }) => versions.map(versionText).join('; ') },
    { header: 'KEYS', value: ({ versions }) => (versions.at(-1)?.keys ?? []).join(', ') },
  ],
}

const REFERENCES: Printed<SecretReference> = {
  kind: 'secret',
  nameOf: ({ path }) => path,
  columns: [
    { header: 'PATH', value: ({ path }) => path },
    { header: 'MATERIAL', value: ({ hasMaterial }) => (hasMaterial ? 'yes' : 'none') },
    { header: 'CONSUMERS', value: ({ consumers }) => String(consumers) },
  ],
}

function versionText({ version, staged, pinnedBy }: SecretSummary['versions'][number]): string {
  const who = pinnedBy.length === 0 ? '' : ` (${pinnedBy.join(', ')})`
  return `${version}${staged ? ' staged' : ''}${who}`
}

export const secretList: OnlineCommand = {
  name: 'secret list',
  summary: 'list the secrets of the tenant, never their values',
  details: 'The names of keys are shown to those who may write secrets.',
  options: [
    { flags: '--referenced', summary: 'every path that a deployment refers to, with material or without' },
    OUTPUT_OPTION,
  ],
  examples: [
    ['holdfast secret list', 'Each with its newest version and who reads it.'],
    ['holdfast secret list -o wide', 'Also which deployment uses which version.'],
    ['holdfast secret list --referenced', 'What deployments wait for shows as `none`.'],
  ],
  online: true,
  async run({ terminal, text, flag }, client) {
    const { readAll } = await import('@holdfast/client')
    if (flag('referenced')) {
      const referenced = await readAll((page) => client.secrets.references(page))
      if (!referenced.ok) return printFailure(terminal, referenced.failure)
      await printItems(terminal, text('output'), REFERENCES, referenced.value)
      return EXIT.ok
    }
    const listed = await readAll((page) => client.secrets.list(page))
    if (!listed.ok) return printFailure(terminal, listed.failure)
    await printItems(terminal, text('output'), SECRETS, listed.value)
    return EXIT.ok
  },
}
