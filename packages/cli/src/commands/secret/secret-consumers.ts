// `holdfast secret consumers`: lists the deployments that use a secret, with the version each uses.

import type { SecretConsumer } from '@holdfast/contract'
import type { OnlineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { printFailure } from '../../print/failure.ts'
import { OUTPUT_OPTION, type Printed, printItems } from '../../print/output.ts'

const CONSUMERS: Printed<SecretConsumer> = {
  kind: 'consumer',
  nameOf: ({ deployment, secret, canary }) => `${deployment}/${secret}${canary ? '/canary' : ''}`,
  columns: [
    {
      header: 'DEPLOYMENT',
      value: ({ deployment, canary }) => (canary ? `${deployment} (canary)` : deployment),
    },
    { header: 'SECRET', value: ({ secret }) => secret },
    { header: 'PATH', value: ({ vault_path }) => vault_path },
    { header: 'ANCHOR', value: ({ anchor }) => anchor },
    { header: 'VERSION', value: ({ version }) => (version === null ? 'none yet' : String(version)) },
  ],
}

export const secretConsumers: OnlineCommand = {
  name: 'secret consumers',
  summary: 'list the deployments that reference a secret, with the version each uses',
  args: [{ name: 'name', summary: 'name of the secret without its namespace, for example orders-db' }],
  options: [OUTPUT_OPTION],
  examples: [['holdfast secret consumers orders-db', 'If the list is empty, the secret can be deleted.']],
  online: true,
  async run({ terminal, args: [name = ''], text }, client) {
    const { readAll } = await import('@holdfast/client')
    const label = name.slice(name.lastIndexOf('/') + 1)
    const listed = await readAll((page) => client.secrets.consumers(label, page))
    if (!listed.ok) return printFailure(terminal, listed.failure)
    await printItems(terminal, text('output'), CONSUMERS, listed.value)
    return EXIT.ok
  },
}
