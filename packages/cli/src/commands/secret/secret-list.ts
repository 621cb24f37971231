// `holdfast secret list`: lists secrets and their versions, never their values.

import type { SecretReference, SecretSummary } from '@holdfast/contract'
import type { OnlineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { age } from '../../print/age.ts'
import { printFailure } from '../../print/failure.ts'
import { OUTPUT_OPTION, type Printed, printItems } from '../../print/output.ts'

const SECRETS: Printed<SecretSummary> = {
  kind: 'secret',
  begin: 'holdfast secret set <path> creates one',
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
  const consumers = pinnedBy.length === 0 ? '' : ` (${pinnedBy.join(', ')})`
  return `${version}${staged ? ' staged' : ''}${consumers}`
}

export const secretList: OnlineCommand = {
  name: 'secret list',
  aliases: ['secret ls'],
  summary: 'list the secrets of the tenant, without their values',
  details: 'Key names are shown only to roles that may write secrets.',
  options: [
    {
      flags: '--referenced',
      summary: 'list every path that a deployment references, including paths without a stored secret',
    },
    OUTPUT_OPTION,
  ],
  examples: [
    ['holdfast secret list', 'Lists each secret with its newest version and its consumers.'],
    ['holdfast secret list -o wide', 'Shows also which deployment uses which version.'],
    ['holdfast secret list --referenced', 'Shows `none` for secrets that deployments wait for.'],
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
