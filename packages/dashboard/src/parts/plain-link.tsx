// A link for lists and for the navigation. The router's own link computes its address and whether it is active at every
// change of page, which delays the page that is opened; this one costs no more than its element.

import { type RegisteredRouter, useRouter } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, MouseEvent } from 'react'

interface Props extends AnchorHTMLAttributes<HTMLAnchorElement> {
  readonly to: Exclude<keyof RegisteredRouter['routesByPath'], `${string}/`>
  readonly params?: { readonly [name: string]: string }
}

export function PlainLink({ to, params = {}, onClick, ...shown }: Props) {
  const router = useRouter()
  const href = `${router.basepath}${pathOf(to, params)}`
  const follow = (event: MouseEvent<HTMLAnchorElement>): void => {
    onClick?.(event)
    if (!isPlain(event)) return
    event.preventDefault()
    router.history.push(href)
  }
  // The code of the page is read while the pointer moves to the link.
  const readCode = (): void => void router.preloadRoute({ to, params })
  return <a href={href} onClick={follow} onPointerEnter={readCode} {...shown} />
}

/** The address of a route with its parameters: `/t/$tenant/nodes` becomes `/t/acme/nodes`. */
export const pathOf = (to: string, params: { readonly [name: string]: string }): string =>
  to.replace(/\$(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))

/** A click that the browser would follow in this tab; with a key it opens another one. */
const isPlain = ({ button, metaKey, altKey, ctrlKey, shiftKey, defaultPrevented }: MouseEvent): boolean =>
  button === 0 && !(metaKey || altKey || ctrlKey || shiftKey || defaultPrevented)
