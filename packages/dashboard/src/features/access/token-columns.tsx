// The columns of the list of tokens.

import type { Token } from '@holdfast/contract'
import { Button } from '@mantine/core'
import { Moment } from '../../parts/moment.tsx'
import type { Column } from '../../parts/virtual-table.tsx'
import { accessTexts } from '../../texts/en/access.ts'

export const tokenColumns = (
  own: string,
  closed: string | undefined,
  onRevoke: (token: Token) => void,
): readonly Column<Token>[] => [
  {
    title: accessTexts.name,
    width: '32%',
    narrow: 'start',
    cell: ({ id, name }) => (
      <>
        <strong>{name}</strong> {id === own ? `(${accessTexts.yours})` : null}
      </>
    ),
    hint: ({ id, name }) => `${name} ${id}`,
  },
  { title: accessTexts.role, narrow: 'below', cell: ({ role }) => role },
  { title: accessTexts.created, narrow: 'hidden', cell: ({ createdAt }) => <Moment iso={createdAt} /> },
  { title: accessTexts.expires, narrow: 'below-end', cell: ({ expiresAt }) => <Moment iso={expiresAt} /> },
  {
    title: accessTexts.actions,
    width: '110px',
    narrow: 'end',
    cell: (token) => (
      <Button
        variant="default"
        size="compact-sm"
        aria-label={accessTexts.revokeOf(token.name)}
        disabled={closed !== undefined}
        {...(closed === undefined ? {} : { title: closed })}
        onClick={() => onRevoke(token)}
      >
        {accessTexts.revoke}
      </Button>
    ),
  },
]
