// A link to another page that looks like a button.

import { Button, type ButtonProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { Ref } from 'react'

interface AnchorProps extends Omit<ButtonProps, 'href'> {
  readonly ref?: Ref<HTMLAnchorElement>
}

const Anchor = (props: AnchorProps) => <Button component="a" variant="default" size="compact-sm" {...props} />

export const LinkButton = createLink(Anchor)
