// An editor in C++, on poll(2). It accepts every proposed text, and ends after the given number of diffs.
//
//     c++ editor.cpp -I../include -L../../../../target/release -lidemcp -o editor
//     LD_LIBRARY_PATH=../../../../target/release ./editor "$PWD" 1
#include <ide_mcp.h>
#include <poll.h>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

class Editor {
  public:
    explicit Editor(const std::string &config) {
        char why[256];
        ed_.reset(idemcp_open(config.data(), config.size(), why, sizeof why));
        if (!ed_) throw std::runtime_error(why);
    }
    operator idemcp *() const { return ed_.get(); }
    std::string text(const char *member) const {
        std::size_t len = 0;
        const char *text = idemcp_text(ed_.get(), member, &len);
        return text ? std::string(text, len) : std::string();
    }
    void check(std::int64_t result) const {
        if (result < 0) throw std::runtime_error(idemcp_error(ed_.get()));
    }

  private:
    struct Free {
        void operator()(idemcp *ed) const { idemcp_free(ed); }
    };
    std::unique_ptr<idemcp, Free> ed_;
};

std::string quote(const std::string &text) {
    std::string quoted(6 * text.size() + 3, 0);
    quoted.resize(idemcp_quote(&quoted[0], quoted.size(), text.data(), text.size()));
    return quoted;
}

int main(int argc, char **argv) try {
    Editor ed(R"({"name":"C++ editor","tools":["openDiff"],"folders":[)" + quote(argc > 1 ? argv[1] : "/") + "]}");
    int left = argc > 2 ? std::atoi(argv[2]) : 1;
    while (!idemcp_is_over(ed)) {
        pollfd on = {idemcp_fd(ed), POLLIN, 0};
        poll(&on, 1, -1);
        int kind;
        while ((kind = idemcp_next(ed)) > 0) {
            if (kind != IDEMCP_DIFF) continue;
            std::cout << ed.text("path") << std::endl;
            // This is refused if the agent has left in the meantime, and after idemcp_quit.
            if (idemcp_accept(ed, idemcp_number(ed, "call", 0), nullptr, 0) < 0) continue;
            if (--left == 0) ed.check(idemcp_quit(ed));
        }
        ed.check(kind);
    }
    return 0;
} catch (const std::exception &error) {
    std::cerr << error.what() << std::endl;
    return 1;
}
