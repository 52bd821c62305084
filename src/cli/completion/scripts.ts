// Each script calls `sanddune complete` of the sanddune on PATH, not the program on the line: a press of the tab key must
// not start a program in the current directory.

const bash = `# Completions of sanddune for bash.
_sanddune() {
  COMPREPLY=()
  local answer line
  answer=$(command sanddune complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null) || return
  case $answer in
    "") return ;;
    :files) compopt -o default ;;
    :directories) compopt -o dirnames ;;
    *) while IFS= read -r line; do COMPREPLY+=("\${line%%$'\\t'*}"); done <<<"$answer" ;;
  esac
}
complete -F _sanddune sanddune
`;

const zsh = `#compdef sanddune
# Completions of sanddune for zsh.
_sanddune() {
  local answer line
  local -a candidates
  answer=$(command sanddune complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null) || return 1
  case $answer in
    "") return 1 ;;
    :files) compset -P '--*='; _files ;;
    :directories) compset -P '--*='; _files -/ ;;
    *)
      for line in "\${(@f)answer}"; do
        candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
      done
      _describe sanddune candidates
      ;;
  esac
}
if [[ $funcstack[1] == _sanddune ]]; then
  _sanddune "$@"
else
  compdef _sanddune sanddune
fi
`;

const fish = `# Completions of sanddune for fish.
function __sanddune_complete
    set -l words (commandline --cut-at-cursor --tokenize --current-process)
    set -l current (commandline --cut-at-cursor --current-token)
    set -l answer (command sanddune complete -- $words[2..-1] "$current" 2>/dev/null)
    set -l path (string replace --regex '^--[^=]+=' '' -- "$current")
    set -l flag (string match --regex '^--[^=]+=' -- "$current")
    switch "$answer[1]"
        case :files
            for found in (__fish_complete_path "$path")
                echo "$flag$found"
            end
        case :directories
            for found in (__fish_complete_directories "$path" '')
                echo "$flag$found"
            end
        case '*'
            printf '%s\\n' $answer
    end
end
complete --command sanddune --no-files --arguments '(__sanddune_complete)'
`;

/** The completion scripts, by shell. */
export const completionScripts = { bash, zsh, fish } as const;

export type Shell = keyof typeof completionScripts;
