vim9script
# The tools that Vim offers to a model, once the person asks for them.

import autoload './sidecar.vim'

export var answers: dict<func> = {}

# Returns the tools that the person has chosen, for the sidecar.
export def Declared(): list<dict<any>>
  return []
enddef
