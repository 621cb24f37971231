// `holdfast token list`: lists the valid tokens of a tenant with id, name and role. Token values are never shown.

import type { Token } from '@holdfast/contract'
import { tenantOf } from '../../args/token-tenant.ts'
import type { OnlineCommand } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { age } from '../../print/age.ts'
import { printFailure } from '../../print/failure.ts'
import { OUTPUT_OPTION, type Printed, printItems } from '../../print/output.ts'

const TOKENS: Printed<Token> = {
  kind: 'token',
  nameOf: ({ id }) => id,
  columns: [
    { header: 'ID', value: ({ id }) => id },
    { header: 'NAME', value: ({ name }) => name },
    { header: 'ROLE', value: ({ role }) => role },
    { header: 'AGE', value: ({ createdAt }, nowMs) => age(createdAt, nowMs) },
    { header: 'EXPIRES', value: ({ expiresAt }) => expiresAt },
  ],
}

export const tokenList: OnlineCommand = {
  name: 'token list',
  aliases: ['token ls'],
  summary: 'list the tokens of a tenant, without their values',
  options: [OUTPUT_OPTION],
  examples: [
    ['holdfast token list', 'Lists each token of your tenant with its role and expiry.'],
    ['holdfast token list --tenant acme', 'Lists those of another tenant, for platform administrators.'],
  ],
  online: true,
  async run(invocation, client) {
    const found = await tenantOf(invocation.terminal, client)
    if (!found.ok) return found.exit
    const { readAll } = await import('@holdfast/client')
    const listed = await readAll((page) => client.tenants.tokens(found.tenant.id, page))
    if (!listed.ok) return printFailure(invocation.terminal, listed.failure)
    await printItems(invocation.terminal, invocation.text('output'), TOKENS, listed.value)
    return EXIT.ok
  },
}
