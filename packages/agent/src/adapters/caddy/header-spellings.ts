// The spellings of a header that programs may read as the same one: CGI, WSGI and others replace each hyphen of a name by an
// underscore, so a client's X_Forwarded_For would replace the X-Forwarded-For of the router.

/** Every name with each of its hyphens as a hyphen or an underscore, the name itself first. */
export function spellingsOf(name: string): string[] {
  const [first = '', ...others] = name.split('-')
  return others.reduce(
    (known, part) => known.flatMap((each) => [`${each}-${part}`, `${each}_${part}`]),
    [first],
  )
}
