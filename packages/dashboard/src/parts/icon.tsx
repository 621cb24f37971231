// Icons of our own: each state has its shape, so that color is never the only sign.

const PATHS = {
  check: 'M3.5 8.5l3 3 6-7',
  cross: 'M4 4l8 8M12 4l-8 8',
  triangle: 'M8 2.2L14.6 13.8H1.4zM8 6.4v3.4M8 11.7v.4',
  diamond: 'M8 1.2L14.8 8 8 14.8 1.2 8zM8 4.8v4M8 10.9v.4',
  info: 'M8 1.6a6.4 6.4 0 110 12.8A6.4 6.4 0 018 1.6zM8 7.2v4M8 4.7v.4',
  clock: 'M8 1.6a6.4 6.4 0 110 12.8A6.4 6.4 0 018 1.6zM8 4.6V8l2.4 1.6',
  square: 'M3 3h10v10H3z',
  arrows: 'M13.5 8a5.5 5.5 0 01-9.6 3.6M2.5 8a5.5 5.5 0 019.6-3.6M12.4 1.6v3h-3M3.6 14.4v-3h3',
  circle: 'M8 2a6 6 0 110 12A6 6 0 018 2z',
  menu: 'M2 4h12M2 8h12M2 12h12',
  search: 'M7 2.5a4.5 4.5 0 110 9 4.5 4.5 0 010-9zM10.4 10.4l3.4 3.4',
  chevron: 'M4 6l4 4 4-4',
  person: 'M8 2a3 3 0 110 6 3 3 0 010-6zM2.5 14a5.5 5.5 0 0111 0',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}
